/* Published CUDA forms in bfloat16, every operation rounded: formula and constants are the libraries'. */
// build:
#define DTYPE "bfloat16"
#define FORMAT gv_bfloat16
#define ROUNDING "every operation rounded"
#define NAME(f) f##_bf16
#define T float
#define ROUND(v) gv_float_of_bf16(gv_bf16_of_float(v))
#define FMA(a, b, c) gv_float_of_bf16(gv_bf16_of_float(fma_odd(a, b, c)))
#define HALVES PUBLISH
#define FLOAT16 SKIP
#define FLOAT32 SKIP
#include "published.h"
