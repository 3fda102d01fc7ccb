/* exp and expm1 in double-double, |s| <= 800.
   s = n log(2)/64 + r, |r| <= log(2)/128 (1 + 2^-34); e^s = 2^(n >> 6) 2^((n & 63)/64) (1 + p(r)),
   p(r) = r + r^2/2 + ... + r^10/10!: truncation below 2^-100 |r|. e^s below 2^-103 + |s| 2^-104 relative.
   The subtraction n log(2)/64 costs |s| 2^-103 absolute, which is relative in e^s.
   Proved by tests/prove/contracts.py, in test_core.py (docs/proofs.md, section 3). */
#ifndef GV_TRUTH_EXP_H
#define GV_TRUTH_EXP_H
#include "tables.h"

#ifndef GV_CALLED /* clones.h */
#define GV_CALLED GV_INLINE
#endif

#define GV_EXP_DOUBLES 7 /* from r^7 on a double is enough: r^6/7! < 2^-57 */
#define GV_QUICK_EXP_DEGREE 6 /* r^6/7! again */

/* e^r - 1 for |r| <= log(2)/128 */
GV_INLINE gv_dd gv_expm1_tiny(gv_dd r) {
#ifdef GV_QUICK
    double q = gv_exp_coefficient[GV_QUICK_EXP_DEGREE].hi;
    for (int n = GV_QUICK_EXP_DEGREE - 1; n >= 1; n--) q = q * r.hi + gv_exp_coefficient[n].hi;
    return gv_dd_from(q * r.hi);
#else
    double tail = gv_exp_coefficient[GV_EXP_DEGREE].hi;
    for (int n = GV_EXP_DEGREE - 1; n >= GV_EXP_DOUBLES; n--) tail = fma(tail, r.hi, gv_exp_coefficient[n].hi);
    gv_dd p = gv_dd_from(tail);
    for (int n = GV_EXP_DOUBLES - 1; n >= 1; n--) p = gv_dd_add(gv_dd_mul(p, r), gv_exp_coefficient[n]);
    return gv_dd_mul(p, r);
#endif
}

/* s - n log(2)/64 */
GV_INLINE gv_dd gv_exp_reduced(gv_dd s, double n) {
#ifdef GV_QUICK /* the first product and difference are exact */
    return gv_dd_from((s.hi - n * gv_ln2_64_head) - n * gv_ln2_64_tail);
#else
    return gv_dd_sub(s, gv_dd_mul_d(gv_ln2_64, n));
#endif
}

GV_INLINE double gv_exp_steps(double s) { return rint(s * 0x1.71547652b82fep+6 /* 64/log(2) */); }

GV_CALLED gv_scaled_dd gv_exp(gv_dd s) {
    double n = gv_exp_steps(s.hi);
    gv_dd r = gv_exp_reduced(s, n);
    gv_dd t = gv_exp2_table[(int)n & 63];
    return gv_scaled(gv_dd_add(t, gv_dd_mul(t, gv_expm1_tiny(r))), (int)floor(n * 0x1p-6));
}

/* e^s as a double-double, -600 <= s <= 600 */
GV_INLINE gv_dd gv_exp_plain(gv_dd s) {
    gv_scaled_dd e = gv_exp(s);
    return gv_dd_scale(e.m, gv_power_of_two(e.k));
}

/* e^s - 1 with relative accuracy, 2^-500 < |s| <= 600 */
GV_INLINE gv_dd gv_expm1(gv_dd s) {
    if (gv_exp_steps(s.hi) == 0.0) return gv_expm1_tiny(s);
    return gv_dd_add_d(gv_exp_plain(s), -1.0);
}

/* tanh t with relative accuracy, 2^-500 < |t| <= 300 */
GV_INLINE gv_dd gv_tanh(gv_dd t) {
    gv_dd e = gv_expm1(gv_dd_scale(t, 2.0));
    return gv_dd_div(e, gv_dd_add_d(e, 2.0));
}

#endif
