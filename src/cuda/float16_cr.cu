/* Correctly rounded float16. */
// build: -fmad=false
#define DTYPE "float16"
#define FRACTION 10
#define EMAX 15
#define NAME(f) f##_f16
#define RESULT(function) gv_cr_##function##_f16
#define TABLES(F) \
    F(gelu, 0, 0xe56u, 0x42e5u, 0x45bau) \
    F(gelu_tanh, 0, 0xe56u, 0x42c3u, 0x454au) \
    F(gelu_sigmoid, 0, 0xe22u, 0x448fu, 0x49d0u) \
    F(silu, 0, 0x11a9u, 0x4801u, 0x4d16u) \
    F(gelu_grad, 1, 0x904u, 0x4403u, 0x4608u) \
    F(gelu_tanh_grad, 1, 0x904u, 0x43d4u, 0x4590u) \
    F(gelu_sigmoid_grad, 1, 0x8b4u, 0x45c2u, 0x49f6u) \
    F(silu_grad, 1, 0xc01u, 0x48e7u, 0x4d13u)
#include "table_cr.h"
