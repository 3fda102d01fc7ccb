/* erf(x), for finite x != 0, any double. a = |x|

   a < 2^-300   2/sqrt(pi) x
   a < 0.7      the Taylor series, truth/gauss.h
   a >= 0.7     sign(x) (1 - 2 Q(a sqrt 2)), truth/gauss.h; beside +-1 from 13 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_ERF_H
#define GV_MATH_ERF_H
#include "../truth/gauss.h"
#include "../truth/value.h"

/* Error of erf: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at -0x1.a85bfa55eab41p+2,
   >= 2^-105.0 |f| at 0x1.e0c267d91ab05p-19 */
GV_INLINE gv_value gv_erf(double x) {
    double a = fabs(x), sign = x < 0.0 ? -1.0 : 1.0;
    if (a < 0x1p-300) return gv_relative(gv_scaled(gv_dd_mul_d(gv_2_rsqrt_pi, x * 0x1p600), -600));
    if (a < 0.7) return gv_sum(0.0, gv_erf_head(x));
    if (a > 13.0) return gv_beside(sign, -sign);
    gv_scaled_dd c = gv_erfc_tail(a);
    c.m = gv_dd_scale(c.m, sign);
    return gv_leading_minus(sign, c);
}

#endif
