/* erfc(x) = 1 - erf(x), for finite x != 0, any double. a = |x|

   a < 2^-250   beside 1
   a < 0.7      1 - erf(x), truth/gauss.h
   x >= 0.7     2 Q(x sqrt 2); between 0 and 2^-1140 from 28.2 on
   x <= -0.7    2 - 2 Q(a sqrt 2); beside 2 from a = 13 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_ERFC_H
#define GV_MATH_ERFC_H
#include "../truth/gauss.h"
#include "../truth/value.h"

/* Error of erfc: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at -0x1.6e5eb90da13bap-38,
   >= 2^-96.9 |f| at 0x1.bc62786deed1bp+4 */
GV_INLINE gv_value gv_erfc(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(1.0, -x);
    if (a < 0.7) return gv_sum(1.0, gv_dd_neg(gv_erf_head(x)));
    if (x < -13.0) return gv_beside(2.0, -1.0);
    if (x > 28.2) return gv_vanishing(1.0);
    gv_scaled_dd c = gv_erfc_tail(a);
    return x > 0.0 ? gv_relative(c) : gv_leading_minus(2.0, c);
}

#endif
