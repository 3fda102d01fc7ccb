/* sigmoid(x) = 1/(1 + e^-x), for finite x != 0, any double. a = |x|, q = e^-a/(1 + e^-a), truth/logistic.h

   a < 2^-250   beside 1/2
   a < 1        1/2 + tanh(x/2)/2
   x >= 1       1 - q; beside 1 from 200 on
   x <= -1      q; between 0 and 2^-1140 from a = 800 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_SIGMOID_H
#define GV_MATH_SIGMOID_H
#include "../truth/logistic.h"

/* Error of sigmoid: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.c3a1021005560p-26,
   >= 2^-100.9 |f| at -0x1.18f7738da1d24p+5 */
GV_INLINE gv_value gv_sigmoid(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 1.0) return gv_sum(0.5, gv_dd_scale(gv_tanh(gv_dd_from(0.5 * x)), 0.5));
    if (x > 200.0) return gv_beside(1.0, -1.0);
    if (x < -800.0) return gv_vanishing(1.0);
    gv_scaled_dd q = gv_logistic(gv_dd_from(a)).q;
    return x > 0.0 ? gv_leading_minus(1.0, q) : gv_relative(q);
}

#endif
