/* The bfloat16 kernels of x86-64-v4. */
#include "levels.h"
#if GV_LEVELS
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512dq,avx512vl,avx512bw"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512dq,avx512vl,avx512bw")
#endif
#include <immintrin.h>
#define GV_BF16_LANES 32
#include "bfloat16.h"
#include "../tables/gelu_bf16.h"
#include "../tables/gelu_grad_bf16.h"
#include "../tables/gelu_sigmoid_bf16.h"
#include "../tables/gelu_sigmoid_grad_bf16.h"
#include "../tables/gelu_tanh_bf16.h"
#include "../tables/gelu_tanh_grad_bf16.h"
#include "../tables/silu_bf16.h"
#include "../tables/silu_grad_bf16.h"

#define GV_DEFINE_BF16(name, derivative) \
    static size_t gv_cr_##name##_bf16_v4(const uint16_t *t, const uint16_t *x, uint16_t *y, size_t n) { \
        return gv_bf16_array(&gv_##name##_bf16_table, derivative, t, x, y, n); \
    }

GV_DEFINE_BF16(gelu, 0)
GV_DEFINE_BF16(gelu_grad, 1)
GV_DEFINE_BF16(gelu_tanh, 0)
GV_DEFINE_BF16(gelu_tanh_grad, 1)
GV_DEFINE_BF16(gelu_sigmoid, 0)
GV_DEFINE_BF16(gelu_sigmoid_grad, 1)
GV_DEFINE_BF16(silu, 0)
GV_DEFINE_BF16(silu_grad, 1)

const gv_cr_bf16_function gv_cr_bf16_table_v4[] = {
    {"gelu", gv_cr_gelu_bf16_v4},
    {"gelu_grad", gv_cr_gelu_grad_bf16_v4},
    {"gelu_tanh", gv_cr_gelu_tanh_bf16_v4},
    {"gelu_tanh_grad", gv_cr_gelu_tanh_grad_bf16_v4},
    {"gelu_sigmoid", gv_cr_gelu_sigmoid_bf16_v4},
    {"gelu_sigmoid_grad", gv_cr_gelu_sigmoid_grad_bf16_v4},
    {"silu", gv_cr_silu_bf16_v4},
    {"silu_grad", gv_cr_silu_grad_bf16_v4},
    {0, 0},
};
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
