/* relu(x) = max(x, 0), for finite x != 0: exact */
#ifndef GV_MATH_RELU_H
#define GV_MATH_RELU_H
#include "../truth/value.h"

/* Error of relu: none, every value is exact */
GV_INLINE gv_value gv_relu(double x) { return gv_exact(x > 0.0 ? x : 0.0); }

#endif
