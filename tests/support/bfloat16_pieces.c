/* The bfloat16 kernels by themselves, and which inputs they evaluate; compiled once for each GV_BF16_LANES. n is a
   multiple of 32. */
#if GV_BF16_LANES > 1
#include <immintrin.h>
#endif
#include <stddef.h>
#include "cr/bfloat16.h"
#include "tables/gelu_bf16.h"
#include "tables/gelu_grad_bf16.h"
#include "tables/gelu_sigmoid_bf16.h"
#include "tables/gelu_sigmoid_grad_bf16.h"
#include "tables/gelu_tanh_bf16.h"
#include "tables/gelu_tanh_grad_bf16.h"
#include "tables/silu_bf16.h"
#include "tables/silu_grad_bf16.h"

#define EVALUATE(name, derivative) \
    void by_pieces_##name(const uint16_t *x, uint16_t *y, uint8_t *evaluated, size_t n) { \
        for (size_t i = 0; i < n; i += GV_BF16_LANES) { \
            uint32_t open = gv_bf16_piece(&gv_##name##_bf16_table, derivative, gv_bf16_load(x + i), y + i); \
            for (size_t k = 0; k < GV_BF16_LANES; k++) evaluated[i + k] = !(open >> k & 1); \
        } \
    }

EVALUATE(gelu, 0)
EVALUATE(gelu_grad, 1)
EVALUATE(gelu_tanh, 0)
EVALUATE(gelu_tanh_grad, 1)
EVALUATE(gelu_sigmoid, 0)
EVALUATE(gelu_sigmoid_grad, 1)
EVALUATE(silu, 0)
EVALUATE(silu_grad, 1)
