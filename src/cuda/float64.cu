/* Every form in float64. */
// build:
#include "approximate.h"
#define DTYPE "float64"
#define FORMAT gv_float64
#define SUFFIX ""
#define ROUNDING "every operation rounded, a*b + c contracted"
#define TANH_APPROXIMATE 0
#define EXP_APPROXIMATE 0
#define NAME(f) f##_f64
#define T double
#define ROUND(v) (v)
#define LIBM(name) name
#include "forms.h"
