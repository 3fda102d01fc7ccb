/* tanh(x), for finite x != 0, any double. a = |x|, q = e^-2a/(1 + e^-2a), truth/logistic.h

   a < 2^-101   beside x
   a < 2^-26    x - x^3/3
   a < 1        expm1(2x)/(expm1(2x) + 2), truth/exp.h
   a >= 1       sign(x) (1 - 2q); beside +-1 from 100 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_TANH_H
#define GV_MATH_TANH_H
#include "../truth/logistic.h"

/* Error of tanh: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at -0x1.4c9841d408b18p+4,
   >= 2^-99.1 |f| at 0x1.1532f15d4dc47p-8 */
GV_INLINE gv_value gv_tanh_value(double x) {
    double a = fabs(x), sign = x < 0.0 ? -1.0 : 1.0;
    if (a < 0x1p-101) return gv_beside_tiny(x, 1.0, -sign);
    if (a < 0x1p-26) return gv_next_to(x, -x * x * x / 3.0); /* the next term is 2/5 x^2 of it */
    if (a < 1.0) return gv_sum(0.0, gv_tanh(gv_dd_from(x)));
    if (a > 100.0) return gv_beside(sign, -sign);
    gv_scaled_dd q = gv_logistic(gv_dd_from(2.0 * a)).q; /* 1 - 2 sigmoid(-2a) */
    q.m = gv_dd_scale(q.m, 2.0 * sign);
    return gv_leading_minus(sign, q);
}

#endif
