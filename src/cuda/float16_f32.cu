/* Every form for float16, computed in float32 and rounded once. */
// build:
// build -fast: --use_fast_math
#include "approximate.h"
#define DTYPE "float16"
#define FORMAT gv_float16
#define SUFFIX "-f32"
#define ROUNDING "computed in float32, a*b + c contracted, rounded once"
#define TANH_APPROXIMATE 1
#define EXP_APPROXIMATE 1
#define NAME(f) f##_f16_by_f32
#define T float
#define ROUND(v) (v)
#define LIBM(name) name##f
#define tanh_approxf gv_tanh_approx
#define exp_approxf gv_exp_approx
#include "forms.h"
