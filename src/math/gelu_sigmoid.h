/* gelu_sigmoid(x) = x sigmoid(1.702 x) and its derivative, for finite x != 0, any double. s(x) = 1.702 x,
   a = |x|, t = s(a), q = e^-t/(1 + e^-t); the last two rows, and t < 1 of the derivative, are in truth/logistic.h

                         function                            derivative
   a < 2^-200 (2^-250)   x/2, and what follows is positive   beside 1/2, on the side of x
   a < 2^-40             x/2 + 1.702/4 x^2                   1/2 + 1.702/2 x
   t < 1                 x/2 + a/2 tanh(t/2)                 1/2 +- (tanh(t/2)/2 + a s'(a) q (1 - q))
   t >= 1, x > 0         x - a q; beside x for t > 200       1 + q (a s'(a) (1 - q) - 1); beside 1 for t > 200
   t >= 1, x < 0         -a q                                -q (a s'(a) (1 - q) - 1)
   a > 800               beside x; between -2^-1140 and 0    beside 1; between -2^-1140 and 0

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above each function
   Test     against the oracle: tests/truth/test_values.py
   Stages   This is the accurate path. The fast paths:
            float32: cr/float_sigmoid.h (gelu_sigmoid) and float_pieces.h (gelu_sigmoid_grad) with fma, else
            enclosure/logistic.h; stages in cr/float32.h
            float64: cr/logistic.h, in double and in double-double; stages in cr/float64.h
            With GV_QUICK the same formulas in double, 2^-40: the first stage of judging (truth/core.h) */
#ifndef GV_MATH_GELU_SIGMOID_H
#define GV_MATH_GELU_SIGMOID_H
#include "../truth/logistic.h"

/* Error of gelu_sigmoid: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.638836ad5df04p-38,
   >= 2^-93.1 |f| at 0x1.e68b1e9ba327fp-41 */
GV_INLINE gv_value gv_gelu_sigmoid(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_beside_tiny(x, 0.5, 1.0);
    if (a < 0x1p-40) return gv_next_to(0.5 * x, 0x1.b3b645a1cac08p-2 /* 1.702/4 */ * x * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(x, -1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_mul_d(gv_1_702, a);
    return gv_scaled_logistic(x, t);
}

/* Error of gelu_sigmoid_grad: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.b2f67441247bcp+3,
   >= 2^-92.6 |f| at 0x1.e68b1e9ba327fp-41 */
GV_INLINE gv_value gv_gelu_sigmoid_grad(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 0x1p-40) return gv_next_to(0.5, 0x1.b3b645a1cac08p-1 /* 1.702/2 */ * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(1.0, 1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_mul_d(gv_1_702, a);
    gv_dd steep = t;
    return gv_scaled_logistic_grad(x, t, steep);
}

#endif
