/* log in double-double.
   log x = k log 2 + log m, 1 <= m < 2; near 1 by log m alone, 3/4 <= m < 3/2. With c the entry of a table for the first
   7 bits of m, c = 1 on both sides of 1, log m = -log c + log1p(r): r = m c - 1 is exact, |r| <= 2^-7, and
   log1p(r) = r - r^2/2 + ... + r^13/13, truncation below 2^-94 |r|.
   Proved by tests/prove/contracts.py, in test_core.py (docs/proofs.md, section 3). */
#ifndef GV_TRUTH_LOG_H
#define GV_TRUTH_LOG_H
#include "tables.h"

#define GV_LOG_DOUBLES 7 /* from r^7 on a double is enough: r^6/7 < 2^-44 */
#define GV_QUICK_LOG_DEGREE 6 /* r^6/7 again */

/* log(1 + r) for |r| <= 2^-7 */
GV_INLINE gv_dd gv_log1p_tiny(gv_dd r) {
#ifdef GV_QUICK
    double q = gv_log_coefficient[GV_QUICK_LOG_DEGREE].hi;
    for (int n = GV_QUICK_LOG_DEGREE - 1; n >= 1; n--) q = q * r.hi + gv_log_coefficient[n].hi;
    return gv_dd_from(q * r.hi);
#else
    double tail = gv_log_coefficient[GV_LOG_DEGREE].hi;
    for (int n = GV_LOG_DEGREE - 1; n >= GV_LOG_DOUBLES; n--) tail = fma(tail, r.hi, gv_log_coefficient[n].hi);
    gv_dd p = gv_dd_from(tail);
    for (int n = GV_LOG_DOUBLES - 1; n >= 1; n--) p = gv_dd_add(gv_dd_mul(p, r), gv_log_coefficient[n]);
    return gv_dd_mul(p, r);
#endif
}

/* log m with relative accuracy, 3/4 <= m < 2 */
GV_INLINE gv_dd gv_log_near(double m) {
    int j = (int)(m * 128.0) - GV_LOG_FIRST;
    gv_dd r = gv_dd_add_d(gv_two_prod(m, gv_log_table[j].inverse), -1.0);
    return gv_dd_add(gv_log_table[j].log, gv_log1p_tiny(r));
}

/* log(x 2^shift), x > 0 normal, |log2 x| <= 600; relative accuracy beside 3/4 to 3/2 */
GV_INLINE gv_dd gv_log(double x, int shift) {
    int k = gv_exponent(x);
    return gv_dd_add(gv_dd_mul_d(gv_ln2_64, 64.0 * (double)(k + shift)), gv_log_near(x * gv_power_of_two(-k)));
}

#endif
