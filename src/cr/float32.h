/* float32 kernels. Blocks go through the bracket of their function, a group of lanes at a time; where both ends round
   to the same float, that is the result. The lanes left open are gathered and go through the bracket that holds
   everywhere; what is still open after it (ties, roots of gradients, NaN, one input in 8,000) is decided in
   double-double by certain.c. */
#include <math.h>
#include "certain.h"
#include "eight.h"

#define GV_BLOCK_FLOATS 2048

/* Floats at once: chains enough to keep vector units busy, which the compiler then mixes. */
#define GV_GROUP (GV_LANES >= 4 ? 16 : 8)

/* A group through a bracket: results to y; the lanes that it leaves open. */
#define GV_DEFINE_GROUP(group, bracket, limit) \
    GV_INLINE unsigned GV_TYPED(group)(const float *x, float *y) { \
        gv_real a[GV_GROUP / GV_LANES], b[GV_GROUP / GV_LANES]; \
        unsigned open = 0; \
        GV_UNROLL for (int part = 0; part < GV_GROUP / GV_LANES; part++) { \
            gv_bracket v = GV_TYPED(bracket)(gv_widen(x + part * GV_LANES)); \
            a[part] = v.a; \
            b[part] = v.b; \
        } \
        GV_UNROLL for (int k = 0; k < GV_GROUP; k += 8) { \
            gv_eight result = gv_narrow(a + k / GV_LANES); \
            open |= gv_open_lanes(result, gv_narrow(b + k / GV_LANES), x + k, limit) << k; \
            gv_store_eight(y + k, result); \
        } \
        return open; \
    }

/* The near bracket decides what it can with |x| <= limit, the other one the rest. Of a block, n is a multiple of GV_GROUP, and x and
   y do not overlap. */
#define GV_DEFINE_F32(name, limit) \
    GV_DEFINE_GROUP(gv_first_##name, gv_##name##_near, limit) \
    GV_DEFINE_GROUP(gv_second_##name, gv_##name##_bracket, INFINITY) \
    static void GV_TYPED(gv_rest_##name)(const float *x, float *y, const unsigned short *place, size_t count) { \
        float gathered[GV_BLOCK_FLOATS + GV_GROUP], result[GV_BLOCK_FLOATS + GV_GROUP]; \
        unsigned short open[GV_BLOCK_FLOATS / GV_GROUP]; \
        for (size_t k = 0; k < count; k++) gathered[k] = x[place[k]]; \
        for (size_t k = count; k < count + GV_GROUP; k++) gathered[k] = 0.0f; \
        for (size_t k = 0; k < count; k += GV_GROUP) \
            open[k / GV_GROUP] = (unsigned short)GV_TYPED(gv_second_##name)(gathered + k, result + k); \
        for (size_t k = 0; k < count; k++) y[place[k]] = result[k]; \
        for (size_t k = 0; k < count; k += GV_GROUP) \
            for (size_t left = open[k / GV_GROUP], j = k; left && j < count; left >>= 1, j++) \
                if (left & 1) y[place[j]] = gv_cr_##name##_certain(gathered[j]); \
    } \
    static void GV_TYPED(gv_block_##name)(const float *x, float *y, size_t n) { \
        unsigned short place[GV_BLOCK_FLOATS + 4]; \
        unsigned short open[GV_BLOCK_FLOATS / GV_GROUP + 8]; \
        size_t count = 0; \
        for (size_t i = 0; i < n; i += GV_GROUP) open[i / GV_GROUP] = (unsigned short)GV_TYPED(gv_first_##name)(x + i, y + i); \
        memset(open + n / GV_GROUP, 0, 8 * sizeof *open); \
        for (size_t i = 0; i < n; i += 64) { \
            uint64_t lanes = 0; \
            for (int k = 0; k < 64 / GV_GROUP; k++) lanes |= (uint64_t)open[i / GV_GROUP + (size_t)k] << GV_GROUP * k; \
            count = gv_note_places(place, count, lanes, i); \
        } \
        if (count) GV_TYPED(gv_rest_##name)(x, y, place, count); \
    } \
    static void GV_TYPED(gv_cr_##name##_f32)(const float *x, float *y, size_t n) { \
        float input[GV_BLOCK_FLOATS], output[GV_GROUP]; \
        while (n >= GV_GROUP) { \
            size_t block = n < GV_BLOCK_FLOATS ? n & ~(size_t)(GV_GROUP - 1) : GV_BLOCK_FLOATS; \
            if (x == y) memcpy(input, x, block * sizeof *x); \
            GV_TYPED(gv_block_##name)(x == y ? input : x, y, block); \
            x += block; \
            y += block; \
            n -= block; \
        } \
        if (!n) return; \
        for (size_t i = 0; i < GV_GROUP; i++) input[i] = i < n ? x[i] : 0.0f; \
        GV_TYPED(gv_block_##name)(input, output, GV_GROUP); \
        memcpy(y, output, n * sizeof *y); \
    }

GV_DEFINE_F32(gelu, (float)GV_NEAR_LIMIT)
GV_DEFINE_F32(gelu_grad, (float)GV_NEAR_LIMIT)
GV_DEFINE_F32(gelu_tanh, GV_NEAR_GELU_TANH)
GV_DEFINE_F32(gelu_tanh_grad, GV_NEAR_GELU_TANH_GRAD)
GV_DEFINE_F32(gelu_sigmoid, GV_NEAR_GELU_SIGMOID)
GV_DEFINE_F32(gelu_sigmoid_grad, GV_NEAR_GELU_SIGMOID_GRAD)
GV_DEFINE_F32(silu, GV_NEAR_SILU)
GV_DEFINE_F32(silu_grad, GV_NEAR_SILU_GRAD)
