/* gelu(x) = x Phi(x) and its derivative, for finite x != 0, any double. a = |x|, Q = 1 - Phi, M = Q/phi (truth/gauss.h)

   a < 2^-200   x/2, and what comes after it is positive and far below every rounding boundary
   a < 2^-40    x/2 + x^2/sqrt(2 pi), and what comes after it within err
   a < 1        x/2 + x^2 h(x), h = (Phi(x) - 1/2)/x > 0
   x >= 1       x - x Q(x); beside x from 20 on
   x <= -1      -a Q(a); between -2^-1140 and 0 from a = 40 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above each function
   Test     against the oracle: tests/truth/test_values.py
   Stages   This is the accurate path. The fast paths:
            float32: cr/float_pieces.h and float_gaussian.h with fma, else enclosure/gelu.h; stages in cr/float32.h
            float64: tables/gelu_f64.h and gelu_grad_f64.h, then cr/tail.h and wide.h; stages in cr/float64.h
            With GV_QUICK the same formulas in double, 2^-40: the first stage of judging (truth/core.h) */
#ifndef GV_MATH_GELU_H
#define GV_MATH_GELU_H
#include "../truth/gauss.h"
#include "../truth/value.h"

/* Error of gelu: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.053acf09ea808p+3,
   >= 2^-92.6 |f| at -0x1.c84e104c141fdp-41 */
GV_INLINE gv_value gv_gelu(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_beside_tiny(x, 0.5, 1.0);
    if (a < 0x1p-40) return gv_next_to(0.5 * x, 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */ * x * x);
    if (a < 1.0) return gv_sum(0.5 * x, gv_dd_mul(gv_two_prod(x, x), gv_normal_head(x)));
    if (x > 20.0) return gv_beside(x, -1.0);
    if (x < -40.0) return gv_vanishing(-1.0);
    gv_scaled_dd q = gv_normal_tail(a);
    q.m = gv_dd_mul_d(q.m, a);
    if (x > 0.0) return gv_leading_minus(x, q);
    return gv_relative(gv_scaled(gv_dd_neg(q.m), q.k));
}

/* gelu_grad(x) = Phi(x) + x phi(x)
   a < 2^-250   beside 1/2, on the side of x
   a < 2^-40    1/2 + 2x/sqrt(2 pi), and what comes after it within err
   a < 1/2      1/2 + x (h(x) + phi(x))
   x >= 1/2     1 + phi(x) (x - M(x)); beside 1 from 20 on
   x <= -1/2    phi(a) (M(a) - a): zero at -0.7517915..., so the bound is on what is subtracted; from a = 40 on between
                -2^-1140 and 0 */
/* Error of gelu_grad: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at -0x1.4b624a15e9434p-32,
   >= 2^-92.1 |f| at 0x1.df5c76a6ffe0ep-41 */
GV_INLINE gv_value gv_gelu_grad(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 0x1p-40) return gv_next_to(0.5, 0x1.9884533d43651p-1 /* 2/sqrt(2 pi) */ * x);
    if (x > 20.0) return gv_beside(1.0, 1.0);
    if (x < -40.0) return gv_vanishing(-1.0);
    gv_scaled_dd d = gv_normal_density(a);
    if (a < 0.5) {
        gv_dd density = gv_dd_scale(d.m, gv_power_of_two(d.k));
        return gv_sum(0.5, gv_dd_mul_d(gv_dd_add(gv_normal_head(x), density), x));
    }
    gv_dd rest = gv_dd_mul(d.m, gv_dd_add_d(gv_dd_neg(gv_mills(gv_dd_from(a))), a));
    double weight = 2.0 * d.m.hi * (a + 1.0);
    if (x < 0.0) return gv_times(gv_dd_neg(rest), weight, d.k);
    double scale = gv_power_of_two(d.k);
    return gv_sum_weighted(1.0, gv_dd_scale(rest, scale), weight * scale);
}

#endif
