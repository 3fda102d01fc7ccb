/* Every form with parameters in float64. */
// build:
#define DTYPE "float64"
#define FORMAT gv_float64
#define SUFFIX ""
#define ROUNDING "every operation rounded, a*b + c contracted"
#define NAME(f) f##_parameters_f64
#define T double
#define ROUND(v) (v)
#define LIBM(name) name
#include "forms.h"
