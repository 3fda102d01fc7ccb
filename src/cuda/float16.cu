/* Every form for float16 in its own arithmetic, two numbers at a time (half2). */
// build:
#include "pair.h"
#define DTYPE "float16"
#define FORMAT gv_float16x2
#define SUFFIX ""
#define ROUNDING "half2 arithmetic, a*b + c contracted"
#define TANH_APPROXIMATE 1
#define EXP_APPROXIMATE 0 /* exp is */
#define NAME(f) f##_f16
#define T gv_f16x2
#define ROUND(v) (v)
#define LIBM(name) name##_pair
#include "forms.h"
