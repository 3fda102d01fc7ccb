/* gelu_sigmoid(x) = x sigmoid(1.702 x) and its derivative, for finite x != 0 */
#ifndef GV_MATH_GELU_SIGMOID_H
#define GV_MATH_GELU_SIGMOID_H
#include "../core/logistic.h"

GV_INLINE gv_value gv_gelu_sigmoid(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_beside_tiny(x, 0.5, 1.0);
    if (a < 0x1p-40) return gv_next_to(0.5 * x, 0x1.b3b645a1cac08p-2 /* 1.702/4 */ * x * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(x, -1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_mul_d(gv_1_702, a);
    return gv_scaled_logistic(x, t);
}

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
