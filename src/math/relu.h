/* relu(x) = max(x, 0), exact */
#ifndef GV_MATH_RELU_H
#define GV_MATH_RELU_H
#include "../core/value.h"

GV_INLINE gv_value gv_relu(double x) { return gv_exact(x > 0.0 ? x : 0.0); }

#endif
