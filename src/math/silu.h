/* silu(x) = x sigmoid(x) and its derivative, for finite x != 0 */
#ifndef GV_MATH_SILU_H
#define GV_MATH_SILU_H
#include "../core/logistic.h"

GV_INLINE gv_value gv_silu(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_beside_tiny(x, 0.5, 1.0);
    if (a < 0x1p-40) return gv_next_to(0.5 * x, 0.25 * x * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(x, -1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_from(a);
    return gv_scaled_logistic(x, t);
}

GV_INLINE gv_value gv_silu_grad(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 0x1p-40) return gv_next_to(0.5, 0.5 * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(1.0, 1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_from(a);
    gv_dd steep = t;
    return gv_scaled_logistic_grad(x, t, steep);
}

#endif
