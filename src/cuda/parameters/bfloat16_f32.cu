/* Every form with parameters for bfloat16, computed in float32 and rounded once. */
// build:
#define DTYPE "bfloat16"
#define FORMAT gv_bfloat16
#define SUFFIX "-f32"
#define ROUNDING "computed in float32, a*b + c contracted, rounded once"
#define NAME(f) f##_parameters_bf16_by_f32
#define T float
#define ROUND(v) (v)
#define LIBM(name) name##f
#include "forms.h"
