/* Every form for bfloat16 in its own arithmetic, two numbers at a time (bfloat162). */
// build:
#include "pair.h"
#define DTYPE "bfloat16"
#define FORMAT gv_bfloat16x2
#define SUFFIX ""
#define ROUNDING "bfloat162 arithmetic, a*b + c contracted"
#define TANH_APPROXIMATE 1
#define EXP_APPROXIMATE 0 /* exp is */
#define NAME(f) f##_bf16
#define T gv_bf16x2
#define ROUND(v) (v)
#define LIBM(name) name##_pair
#include "forms.h"
