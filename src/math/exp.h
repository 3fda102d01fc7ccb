/* e^x, for finite x != 0 */
#ifndef GV_MATH_EXP_H
#define GV_MATH_EXP_H
#include "../core/exp.h"
#include "../core/value.h"

GV_INLINE gv_value gv_exp_value(double x) {
    if (fabs(x) < 0x1p-250) return gv_beside(1.0, x);
    if (fabs(x) < 0x1p-5) return gv_sum(1.0, gv_expm1(gv_dd_from(x)));
    if (x > 800.0) return gv_huge();
    if (x < -800.0) return gv_vanishing(1.0);
    return gv_relative(gv_exp(gv_dd_from(x)));
}

#endif
