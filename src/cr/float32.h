/* Correctly rounded float32: the stages, over arrays.

   1 fast path        a block, GV_GROUP lanes at a time, by gv_<f>_near; where both ends round to the same float and
                      |x| <= limit, that float is the result. Formulas, bounds, proofs: enclosure/gelu.h and logistic.h
   2 gathered lanes   those that stage 1 leaves undecided, by gv_<f>_enclosure, which holds for every x
   3 accurate path    one by one, in double-double: accurate.h; about one input in 8,000, of which ties, roots of
                      gradients and NaN are the usual ones

   Every result is tested: = 0 of 2^32 inputs wrong, every instruction set (tests/truth/test_float32_kernels.py,
   test_all_inputs). The same on a GPU: cuda/float32_cr.cu. In the floating-point environment of the caller, over arrays
   of any length: arrays/loops.h. */
#include <math.h>
#include <string.h>
#include "accurate.h"
#include "eight.h"
#include "undecided.h"

#define GV_BLOCK_FLOATS 2048

/* Floats at once: chains enough to keep vector units busy, which the compiler then mixes. */
#define GV_GROUP (GV_LANES >= 4 ? 16 : 8)

#define gv_enclose GV_TYPED(gv_enclose)
typedef gv_interval (*gv_enclose)(gv_real x);

/* y of GV_GROUP inputs; bit k of the result: lane k is undecided, or |x[k]| > limit */
#define gv_f32_group GV_TYPED(gv_f32_group)
GV_INLINE unsigned gv_f32_group(gv_enclose enclose, float limit, const float *x, float *y) {
    gv_real a[GV_GROUP / GV_LANES], b[GV_GROUP / GV_LANES];
    unsigned undecided = 0;
    GV_UNROLL
    for (int part = 0; part < GV_GROUP / GV_LANES; part++) {
        gv_interval v = enclose(gv_widen(x + part * GV_LANES));
        a[part] = v.a;
        b[part] = v.b;
    }
    GV_UNROLL
    for (int k = 0; k < GV_GROUP; k += 8) {
        gv_eight result = gv_narrow(a + k / GV_LANES);
        undecided |= gv_undecided_lanes(result, gv_narrow(b + k / GV_LANES), x + k, limit) << k;
        gv_store_eight(y + k, result);
    }
    return undecided;
}

/* Stages 2 and 3, for the inputs of a block at `count` places */
#define gv_f32_gathered GV_TYPED(gv_f32_gathered)
GV_INLINE void gv_f32_gathered(gv_enclose enclose, float (*accurate)(float), const float *x, float *y,
                               const unsigned short *place, size_t count) {
    float gathered[GV_BLOCK_FLOATS + GV_GROUP], result[GV_BLOCK_FLOATS + GV_GROUP];
    unsigned short undecided[GV_BLOCK_FLOATS / GV_GROUP];
    for (size_t k = 0; k < count; k++) gathered[k] = x[place[k]];
    for (size_t k = count; k < count + GV_GROUP; k++) gathered[k] = 0.0f;
    for (size_t k = 0; k < count; k += GV_GROUP)
        undecided[k / GV_GROUP] = (unsigned short)gv_f32_group(enclose, INFINITY, gathered + k, result + k);
    for (size_t k = 0; k < count; k++) y[place[k]] = result[k];
    for (size_t k = 0; k < count; k += GV_GROUP)
        for (size_t left = undecided[k / GV_GROUP], j = k; left && j < count; left >>= 1, j++)
            if (left & 1) y[place[j]] = accurate(gathered[j]);
}

/* A block: n is a multiple of GV_GROUP, x and y do not overlap; `gathered` does stages 2 and 3. */
#define gv_f32_block GV_TYPED(gv_f32_block)
GV_INLINE void gv_f32_block(gv_enclose near, float limit,
                            void (*gathered)(const float *, float *, const unsigned short *, size_t), const float *x,
                            float *y, size_t n) {
    unsigned short place[GV_BLOCK_FLOATS + 4];
    unsigned short undecided[GV_BLOCK_FLOATS / GV_GROUP + 8];
    size_t count = 0;
    for (size_t i = 0; i < n; i += GV_GROUP)
        undecided[i / GV_GROUP] = (unsigned short)gv_f32_group(near, limit, x + i, y + i);
    memset(undecided + n / GV_GROUP, 0, 8 * sizeof *undecided);
    for (size_t i = 0; i < n; i += 64) {
        uint64_t lanes = 0;
        for (int k = 0; k < 64 / GV_GROUP; k++) lanes |= (uint64_t)undecided[i / GV_GROUP + (size_t)k] << GV_GROUP * k;
        count = gv_append_places(place, count, lanes, i);
    }
    if (count) gathered(x, y, place, count);
}

#define gv_f32_array GV_TYPED(gv_f32_array)
GV_INLINE void gv_f32_array(void (*block)(const float *, float *, size_t), const float *x, float *y, size_t n) {
    float input[GV_BLOCK_FLOATS], output[GV_GROUP];
    while (n >= GV_GROUP) {
        size_t count = n < GV_BLOCK_FLOATS ? n & ~(size_t)(GV_GROUP - 1) : GV_BLOCK_FLOATS;
        if (x == y) memcpy(input, x, count * sizeof *x);
        block(x == y ? input : x, y, count);
        x += count;
        y += count;
        n -= count;
    }
    if (!n) return;
    for (size_t i = 0; i < GV_GROUP; i++) input[i] = i < n ? x[i] : 0.0f;
    block(input, output, GV_GROUP);
    memcpy(y, output, n * sizeof *y);
}

/* limit: the largest |x| of stage 1 */
#define GV_DEFINE_F32(name, limit) \
    static void GV_TYPED(gv_gathered_##name)(const float *x, float *y, const unsigned short *place, size_t count) { \
        gv_f32_gathered(GV_TYPED(gv_##name##_enclosure), gv_cr_##name##_accurate, x, y, place, count); \
    } \
    static void GV_TYPED(gv_block_##name)(const float *x, float *y, size_t n) { \
        gv_f32_block(GV_TYPED(gv_##name##_near), limit, GV_TYPED(gv_gathered_##name), x, y, n); \
    } \
    static void GV_TYPED(gv_cr_##name##_f32)(const float *x, float *y, size_t n) { \
        gv_f32_array(GV_TYPED(gv_block_##name), x, y, n); \
    }

GV_DEFINE_F32(gelu, (float)GV_NEAR_LIMIT)
GV_DEFINE_F32(gelu_grad, (float)GV_NEAR_LIMIT)
GV_DEFINE_F32(gelu_tanh, GV_NEAR_GELU_TANH)
GV_DEFINE_F32(gelu_tanh_grad, GV_NEAR_GELU_TANH_GRAD)
GV_DEFINE_F32(gelu_sigmoid, GV_NEAR_GELU_SIGMOID)
GV_DEFINE_F32(gelu_sigmoid_grad, GV_NEAR_GELU_SIGMOID_GRAD)
GV_DEFINE_F32(silu, GV_NEAR_SILU)
GV_DEFINE_F32(silu_grad, GV_NEAR_SILU_GRAD)
