/* Every form in float32. */
// build:
// build -fast: --use_fast_math
#include "approximate.h"
#define DTYPE "float32"
#define FORMAT gv_float32
#define SUFFIX ""
#define ROUNDING "every operation rounded, a*b + c contracted"
#define TANH_APPROXIMATE 1
#define EXP_APPROXIMATE 1
#define NAME(f) f##_f32
#define T float
#define ROUND(v) (v)
#define LIBM(name) name##f
#define tanh_approxf gv_tanh_approx
#define exp_approxf gv_exp_approx
#include "forms.h"
