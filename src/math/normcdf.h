/* normcdf(x) = Phi(x) = erfc(-x/sqrt(2))/2, for finite x != 0, any double. a = |x|

   a < 2^-250   beside 1/2
   a < 1        1/2 + x h(x), h = (Phi(x) - 1/2)/x, truth/gauss.h
   x >= 1       1 - Q(x); beside 1 from 20 on
   x <= -1      Q(a); between 0 and 2^-1140 from a = 40 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_NORMCDF_H
#define GV_MATH_NORMCDF_H
#include "../truth/gauss.h"
#include "../truth/value.h"

/* Error of normcdf: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.4297b125c398ap-36,
   >= 2^-96.9 |f| at -0x1.226dff735f666p+5 */
GV_INLINE gv_value gv_normcdf(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 1.0) return gv_sum(0.5, gv_dd_mul_d(gv_normal_head(x), x));
    if (x > 20.0) return gv_beside(1.0, -1.0);
    if (x < -40.0) return gv_vanishing(1.0);
    gv_scaled_dd q = gv_normal_tail(a);
    return x > 0.0 ? gv_leading_minus(1.0, q) : gv_relative(q);
}

#endif
