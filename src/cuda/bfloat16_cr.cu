/* Correctly rounded bfloat16. */
// build: -fmad=false
#define DTYPE "bfloat16"
#define FRACTION 7
#define EMAX 127
#define NAME(f) f##_bf16
#define RESULT(function) gv_cr_##function##_bf16
#define TABLES(F) \
    F(gelu, 0, 0x3b4bu, 0x4032u, 0x4159u) \
    F(gelu_tanh, 0, 0x3b4bu, 0x4030u, 0x4126u) \
    F(gelu_sigmoid, 0, 0x3b45u, 0x4067u, 0x4264u) \
    F(silu, 0, 0x3bb6u, 0x40bfu, 0x42c3u) \
    F(gelu_grad, 1, 0x3aa1u, 0x405au, 0x415du) \
    F(gelu_tanh_grad, 1, 0x3aa1u, 0x4058u, 0x4128u) \
    F(gelu_sigmoid_grad, 1, 0x3a97u, 0x408cu, 0x4266u) \
    F(silu_grad, 1, 0x3b01u, 0x40edu, 0x42c3u)
#include "table_cr.h"
