/* Every form with parameters in float32. */
// build:
#define DTYPE "float32"
#define FORMAT gv_float32
#define SUFFIX ""
#define ROUNDING "every operation rounded, a*b + c contracted"
#define NAME(f) f##_parameters_f32
#define T float
#define ROUND(v) (v)
#define LIBM(name) name##f
#include "forms.h"
