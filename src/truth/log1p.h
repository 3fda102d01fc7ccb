/* log(1 + u) in double-double, 2^-400 < u <= 1: 2 atanh(s), s = u/(2 + u) <= 1/3.
   atanh(s) = s H(s^2), H(z) = 1 + z/3 + z^2/5 + ..., for z <= 1/9; truncation below 2^-97 (2^-45 in double).
   Proved by tests/prove/contracts.py, in test_core.py (docs/proofs.md, section 3). */
#ifndef GV_TRUTH_LOG1P_H
#define GV_TRUTH_LOG1P_H
#include "exp.h"

#define GV_ATANH_DOUBLES 15 /* z^15 < 2^-47 */
#define GV_QUICK_ATANH_DEGREE 12

/* H(z), 0 <= z <= 1/9 */
GV_INLINE gv_dd gv_atanh_head(gv_dd z) {
#ifdef GV_QUICK
    double q = gv_atanh_coefficient[GV_QUICK_ATANH_DEGREE].hi;
    for (int n = GV_QUICK_ATANH_DEGREE - 1; n >= 0; n--) q = q * z.hi + gv_atanh_coefficient[n].hi;
    return gv_dd_from(q);
#else
    double tail = gv_atanh_coefficient[GV_ATANH_DEGREE].hi;
    for (int n = GV_ATANH_DEGREE - 1; n >= GV_ATANH_DOUBLES; n--) tail = fma(tail, z.hi, gv_atanh_coefficient[n].hi);
    gv_dd p = gv_dd_from(tail);
    for (int n = GV_ATANH_DOUBLES - 1; n >= 0; n--) p = gv_dd_add(gv_dd_mul(p, z), gv_atanh_coefficient[n]);
    return p;
#endif
}

GV_INLINE gv_dd gv_log1p(gv_dd u) {
    gv_dd s = gv_dd_div(u, gv_dd_add_d(u, 2.0));
    return gv_dd_mul(gv_dd_scale(s, 2.0), gv_atanh_head(gv_dd_mul(s, s)));
}

#endif
