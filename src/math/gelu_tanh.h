/* gelu_tanh(x) = x sigmoid(s(x)), s(x) = 2 sqrt(2/pi) (x + 0.044715 x^3), and its derivative, for finite x != 0, any
   double.
   a = |x|, t = s(a), q = e^-t/(1 + e^-t); the last two rows, and t < 1 of the derivative, are in truth/logistic.h

                         function                            derivative
   a < 2^-200 (2^-250)   x/2, and what follows is positive   beside 1/2, on the side of x
   a < 2^-40             x/2 + x^2/sqrt(2 pi)                1/2 + 2x/sqrt(2 pi)
   t < 1                 x/2 + a/2 tanh(t/2)                 1/2 +- (tanh(t/2)/2 + a s'(a) q (1 - q))
   t >= 1, x > 0         x - a q; beside x for t > 200       1 + q (a s'(a) (1 - q) - 1); beside 1 for t > 200
   t >= 1, x < 0         -a q                                -q (a s'(a) (1 - q) - 1)
   a > 40                beside x; between -2^-1140 and 0    beside 1; between -2^-1140 and 0

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above each function
   Test     against the oracle: tests/truth/test_values.py
   Stages   This is the accurate path. The fast paths:
            float32: cr/float_pieces.h with fma, else enclosure/logistic.h; stages in cr/float32.h
            float64: cr/logistic.h, in double and in double-double; stages in cr/float64.h
            With GV_QUICK the same formulas in double, 2^-40: the first stage of judging (truth/core.h) */
#ifndef GV_MATH_GELU_TANH_H
#define GV_MATH_GELU_TANH_H
#include "../truth/logistic.h"

/* Error of gelu_tanh: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.0bc52cc3d04a4p-33,
   >= 2^-92.6 |f| at -0x1.c84e104c141fdp-41 */
GV_INLINE gv_value gv_gelu_tanh(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_beside_tiny(x, 0.5, 1.0);
    if (a < 0x1p-40) return gv_next_to(0.5 * x, 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */ * x * x);
    if (a > 40.0) return x > 0.0 ? gv_beside(x, -1.0) : gv_vanishing(-1.0);
    gv_dd cubic = gv_dd_mul(gv_0_044715, gv_two_prod(a, a)); /* s = twice (1 + cubic) */
    gv_dd twice = gv_dd_mul_d(gv_2_sqrt_2_pi, a);
    gv_dd t = gv_dd_mul(twice, gv_dd_add_d(cubic, 1.0));
    return gv_scaled_logistic(x, t);
}

/* Error of gelu_tanh_grad: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at -0x1.1ab48dc98ce82p-31,
   >= 2^-92.1 |f| at 0x1.df5c76a6ffe0ep-41 */
GV_INLINE gv_value gv_gelu_tanh_grad(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 0x1p-40) return gv_next_to(0.5, 0x1.9884533d43651p-1 /* 2/sqrt(2 pi) */ * x);
    if (a > 40.0) return x > 0.0 ? gv_beside(1.0, 1.0) : gv_vanishing(-1.0);
    gv_dd cubic = gv_dd_mul(gv_0_044715, gv_two_prod(a, a)); /* s = twice (1 + cubic) */
    gv_dd twice = gv_dd_mul_d(gv_2_sqrt_2_pi, a);
    gv_dd t = gv_dd_mul(twice, gv_dd_add_d(cubic, 1.0));
    gv_dd steep = gv_dd_mul(twice, gv_dd_add_d(gv_dd_add(gv_dd_scale(cubic, 2.0), cubic), 1.0));
    return gv_scaled_logistic_grad(x, t, steep);
}

#endif
