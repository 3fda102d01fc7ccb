/* Stage 1 of the float32 kernels by itself: the results and which of them are decided; compiled once for each
   GV_FLOAT_LANES and GV_FLOAT_TABLES. n is a multiple of 64. */
#if GV_FLOAT_LANES == 4
#include <arm_neon.h>
#elif GV_FLOAT_LANES > 1
#include <immintrin.h>
#endif
#include <stddef.h>
#include "cr/float_gaussian.h"
#include "cr/float_pieces.h"
#include "cr/float_sigmoid.h"
#include "tables/gelu_gaussian_f32.h"
#include "tables/gelu_grad_f32.h"
#include "tables/gelu_grad_gaussian_f32.h"
#include "tables/gelu_sigmoid_grad_f32.h"
#include "tables/gelu_tanh_grad_f32.h"
#include "tables/silu_grad_f32.h"
#if GV_FLOAT_TABLES == GV_ROWS
#include "cr/float_cubics.h"
#include "tables/gelu_cubic_f32.h"
#include "tables/gelu_tanh_cubic_f32.h"
#else
#include "tables/gelu_f32.h"
#include "tables/gelu_tanh_f32.h"
#endif

static gv_floats_place find(const gv_float_table *f, const float *x) {
#if GV_FLOAT_LANES == 8 || GV_FLOAT_LANES == 4
    uint32_t offset[GV_FLOAT_LANES];
    gv_floats_store_offsets(f, x, offset);
    return gv_floats_find_rows(f, offset);
#else
    return gv_float_find(f, gv_floats_load(x));
#endif
}

static gv_floats_sum piece(const gv_float_table *f, int derivative, const float *x) {
    gv_floats input = gv_floats_load(x);
    return gv_float_sum(f, derivative, input, gv_float_along(f, gv_float_locate(f, input, find(f, x))));
}

#define EVALUATE(name, sum) \
    void by_pieces_##name(const float *x, float *y, uint8_t *decided, size_t n) { \
        for (size_t i = 0; i < n; i += GV_FLOAT_LANES, x += GV_FLOAT_LANES) { \
            uint32_t open = gv_float_round(sum, y + i); \
            for (size_t k = 0; k < GV_FLOAT_LANES; k++) decided[i + k] = !(open >> k & 1); \
        } \
    }

#if GV_FLOAT_TABLES == GV_ROWS
static gv_floats_sum cubic(const gv_float_cubics *f, const float *x) {
    gv_floats row[4], input = gv_floats_load(x);
    uint32_t offset[GV_FLOAT_LANES];
    gv_floats h = gv_float_cubic_find(f, input, offset);
    gv_floats_columns_at(f->rows, offset, row);
    return gv_float_cubic_sum(input, gv_float_cubic(f, h, row));
}

EVALUATE(gelu, cubic(&gv_gelu_cubics, x))
EVALUATE(gelu_tanh, cubic(&gv_gelu_tanh_cubics, x))
#else
EVALUATE(gelu, piece(&gv_gelu_float_table, 0, x))
EVALUATE(gelu_tanh, piece(&gv_gelu_tanh_float_table, 0, x))
#endif
EVALUATE(gelu_grad, piece(&gv_gelu_grad_float_table, 1, x))
EVALUATE(gelu_tanh_grad, piece(&gv_gelu_tanh_grad_float_table, 1, x))
EVALUATE(gelu_sigmoid_grad, piece(&gv_gelu_sigmoid_grad_float_table, 1, x))
EVALUATE(silu_grad, piece(&gv_silu_grad_float_table, 1, x))

#define EVALUATE_SIGMOID(name, rate, derivative) \
    void by_sigmoid_##name(const float *x, float *y, uint8_t *decided, size_t n) { \
        for (size_t i = 0; i < n; i += GV_FLOAT_LANES) { \
            gv_float_divisor by = gv_float_one_plus(gv_float_exp(gv_float_sigmoid_reduce(&rate, x + i))); \
            uint32_t open = gv_float_sigmoid(&rate, derivative, gv_floats_load(x + i), by, y + i); \
            for (size_t k = 0; k < GV_FLOAT_LANES; k++) decided[i + k] = !(open >> k & 1); \
        } \
    }

EVALUATE_SIGMOID(gelu_sigmoid, gv_gelu_sigmoid_rate, 0)
EVALUATE_SIGMOID(gelu_sigmoid_grad, gv_gelu_sigmoid_rate, 1)
EVALUATE_SIGMOID(silu, gv_silu_rate, 0)
EVALUATE_SIGMOID(silu_grad, gv_silu_rate, 1)

#define EVALUATE_GAUSSIAN(name, derivative, zero) \
    void by_gaussian_##name(const float *x, float *y, uint8_t *decided, size_t n) { \
        const gv_float_table *f = &gv_##name##_gaussian_float_table; \
        for (size_t i = 0; i < n; i += GV_FLOAT_LANES) { \
            gv_floats input = gv_floats_load(x + i); \
            gv_float_gaussian_work work = gv_float_gaussian_start(f, input, find(f, x + i)); \
            gv_float_gaussian_factors factors = gv_float_gaussian_evaluate(f, work); \
            uint32_t open = gv_float_gaussian_round(derivative, zero, input, factors, y + i); \
            for (size_t k = 0; k < GV_FLOAT_LANES; k++) decided[i + k] = !(open >> k & 1); \
        } \
    }

EVALUATE_GAUSSIAN(gelu, 0, -14.5f)
EVALUATE_GAUSSIAN(gelu_grad, 1, -14.625f)
