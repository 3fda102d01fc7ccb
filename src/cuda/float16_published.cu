/* Published CUDA forms in float16, every operation rounded: formula and constants are the libraries'. */
// build:
#define DTYPE "float16"
#define FORMAT gv_float16
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f16
#define T float
#define ROUND(v) gv_float_of_f16(gv_f16_of_float(v))
#define FMA(a, b, c) gv_float_of_f16(gv_f16_of_float(fma_odd(a, b, c)))
#define HALVES PUBLISH
#define FLOAT16 PUBLISH
#define FLOAT32 SKIP
#include "published.h"
