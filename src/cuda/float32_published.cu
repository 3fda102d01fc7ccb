/* Published CUDA forms in float32: formula and constants are the libraries'. */
// build:
// build -fast: --use_fast_math
#define DTYPE "float32"
#define FORMAT gv_float32
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f32
#define T float
#define ROUND(v) (v)
#define FMA(a, b, c) fmaf(a, b, c)
#define HALVES SKIP
#define FLOAT16 SKIP
#define FLOAT32 PUBLISH
#include "published.h"
