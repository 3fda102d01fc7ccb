/* An enclosure of an exact value y in double-double: |y 2^-k - (hi + lo)| < err, or err = 0 and hi + lo is exact. The
   inequality is strict: err = |lo| still says on which side of hi the value lies. hi = NaN: there is no value, x lies
   outside of the domain; hi infinite: a pole. hi = -0: zero of that sign.
   What each constructor promises is proved for every branch of src/math: tests/prove/test_core.py (docs/proofs.md,
   section 4). From here on to the rounding and to errors: judge.h. */
#ifndef GV_TRUTH_VALUE_H
#define GV_TRUTH_VALUE_H
#include <stddef.h>
#include "dd.h"

typedef struct {
    double hi, lo, err;
    int k;
} gv_value;

/* values of n inputs */
typedef void (*gv_loop)(const double *x, gv_value *y, size_t n);

GV_INLINE gv_value gv_value_make(double hi, double lo, double err, int k) {
    gv_value v = {hi, lo, err, k};
    return v;
}

/* Relative error allowed to a correction that a formula computes.
   Proved for every branch and every double (docs/proofs.md); tests/prove prints how much of it each branch uses: most
   in the argument of exp, up to 800, so in gelu_tanh_grad. GV_QUICK: in double, for formats of 32 bits and less. */
#ifndef GV_QUICK
#define GV_REL 0x1p-88
#else
#define GV_REL 0x1p-40
#endif

GV_INLINE gv_value gv_exact(double y) {
    if (fabs(y) < 0x1p-300) return gv_value_make(y * 0x1p600, 0.0, 0.0, -600);
    return gv_value_make(y, 0.0, 0.0, 0);
}

/* f is not defined there */
GV_INLINE gv_value gv_undefined(void) { return gv_value_make(gv_from_bits(UINT64_C(0x7ff8000000000000)), 0.0, 0.0, 0); }

/* leading + c, with leading exact and c within `weight` * GV_REL (weight >= |c|: the size of what was added up) */
GV_INLINE gv_value gv_sum_weighted(double leading, gv_dd c, double weight) {
    gv_dd s = gv_two_sum(leading, c.hi);
    s = gv_fast_two_sum(s.hi, s.lo + c.lo);
    return gv_value_make(s.hi, s.lo, weight * GV_REL + fabs(s.lo) * 0x1p-51, 0);
}

GV_INLINE gv_value gv_sum(double leading, gv_dd c) { return gv_sum_weighted(leading, c, fabs(c.hi)); }

/* leading with something on one side of it (the sign of `side`), far below every rounding boundary:
   0 < |y - leading| < 2^-199 |leading| */
GV_INLINE gv_value gv_beside(double leading, double side) {
    double tiny = fabs(leading) * 0x1p-200;
    return gv_value_make(leading, side < 0.0 ? -tiny : tiny, tiny, 0);
}

/* leading + c with c far below leading, c within 2^-48 relative */
GV_INLINE gv_value gv_next_to(double leading, double c) {
    gv_dd s = gv_fast_two_sum(leading, c);
    return gv_value_make(s.hi, s.lo, fabs(c) * 0x1p-48, 0);
}

/* c 2^k, c within weight * GV_REL */
GV_INLINE gv_value gv_times(gv_dd c, double weight, int k) { return gv_value_make(c.hi, c.lo, weight * GV_REL, k); }

GV_INLINE gv_value gv_relative(gv_scaled_dd c) { return gv_times(c.m, fabs(c.m.hi), c.k); }

/* leading - c, c.k >= -1000 */
GV_INLINE gv_value gv_leading_minus(double leading, gv_scaled_dd c) {
    return gv_sum(leading, gv_dd_scale(c.m, -gv_power_of_two(c.k)));
}

/* some value with 0 < sign * y < 2^-1140: below half the smallest number of every format */
GV_INLINE gv_value gv_vanishing(double sign) { return gv_value_make(sign * 0.5, 0.0, 0.5, -1140); }

/* some value above 2^1140, beyond every format: it counts as if near 2^2001 */
GV_INLINE gv_value gv_huge(void) { return gv_value_make(1.0, 0.0, 0.5, 2001); }

/* x/2 or x (leading = share * x) for |x| < 2^-100, with the rest on the side `side` */
GV_INLINE gv_value gv_beside_tiny(double x, double share, double side) {
    gv_value v = gv_beside(x * 0x1p600 * share, side);
    v.k = -600;
    return v;
}

#endif
