/* gelu_sigmoid(x) = x sigmoid(1.702 x) and its derivative, for finite x != 0, any double. t = 1.702 |x|,
   q = e^-t/(1 + e^-t)
   |x| < 2^-40   x/2 + 1.702/4 x^2, and what comes after it within err
   t < 1         x/2 + |x|/2 tanh(t/2)
   t >= 1        x > 0: x - x q; x < 0: -|x| q; both and the derivative in truth/logistic.h
   |x| > 800     beside x; between -2^-1140 and 0 */
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
