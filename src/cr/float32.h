/* Correctly rounded float32: the stages, over arrays.

   1 fast path        a block of inputs; where both ends of an enclosure round to the same float, that is the result:
                        in float32, where vectors have fma (x86-64-v3 and v4, NEON): silu and gelu_sigmoid by
                        float_sigmoid.h, the others by pieces, float_pieces.h and, but for v4, float_cubics.h; wide
                        inputs by float_sigmoid.h, too (gradients of the two), or by float_gaussian.h (gelu, gelu_grad)
                        else, and where these leave too much, by gv_<f>_near up to |x| <= limit, in double,
                        GV_GROUP lanes at a time. Formulas, bounds, proofs: enclosure/gelu.h and logistic.h
                        then zeros, and inputs so far out that the result is -0, x or 1 (gv_f32_limits), where there
                        are many
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

/* Stage 1: how many it leaves, and their places; stages 2 and 3: those */
#define gv_f32_stage_1 GV_TYPED(gv_f32_stage_1)
typedef size_t (*gv_f32_stage_1)(const float *x, float *y, size_t n, size_t most, unsigned short *place);
#define gv_f32_rest GV_TYPED(gv_f32_rest)
typedef void (*gv_f32_rest)(const float *x, float *y, const unsigned short *place, size_t count);

#if GV_FLOAT_TABLES
#include "float_gaussian.h"
#include "float_pieces.h"
#include "float_sigmoid.h"
#include "../tables/gelu_gaussian_f32.h"
#include "../tables/gelu_grad_f32.h"
#include "../tables/gelu_grad_gaussian_f32.h"
#include "../tables/gelu_sigmoid_grad_f32.h"
#include "../tables/gelu_tanh_grad_f32.h"
#include "../tables/silu_grad_f32.h"
#if GV_FLOAT_TABLES == GV_ROWS
#include "float_cubics.h"
#include "../tables/gelu_cubic_f32.h"
#include "../tables/gelu_tanh_cubic_f32.h"
#else
#include "../tables/gelu_f32.h"
#include "../tables/gelu_tanh_f32.h"
#endif

#define GV_ARRAY_GROUP 64
#define GV_FEW_LANES 8 /* of 64 */

/* Where f(x) rounds to -0, and from where on to x, of a derivative to 1 */
typedef struct { float zero, whole; } gv_f32_limits;

/* Of 64 inputs those of `lanes` that are not 0 and have no limit as result; the others get it. */
#define gv_f32_settle GV_TYPED(gv_f32_settle)
GV_SELDOM uint64_t gv_f32_settle(gv_f32_limits limits, int derivative, const float *x, float *y, uint64_t lanes) {
    GV_UNROLL
    for (size_t k = 0; k < 64; k += GV_FLOAT_LANES)
        lanes &=
            ~((uint64_t)gv_floats_settle(y + k, gv_floats_load(x + k), derivative, limits.zero, limits.whole) << k);
    return lanes;
}

/* Few are left alone. */
#define gv_f32_settled GV_TYPED(gv_f32_settled)
GV_INLINE uint64_t gv_f32_settled(gv_f32_limits limits, int derivative, const float *x, float *y, uint64_t lanes) {
    return gv_count_bits(lanes) <= GV_FEW_LANES ? lanes : gv_f32_settle(limits, derivative, x, y, lanes);
}

#if defined(__GNUC__)
#define gv_prefetch(p) __builtin_prefetch(p)
#define gv_prefetch_to_write(p) __builtin_prefetch(p, 1)
#else
#define gv_prefetch(p) ((void)0)
#define gv_prefetch_to_write(p) ((void)0)
#endif

/* The cache lines of 64 inputs and outputs 2 KB ahead, which may lie behind the arrays: where that was measured */
#define gv_f32_prefetch GV_TYPED(gv_f32_prefetch)
GV_INLINE void gv_f32_prefetch(const float *x, const float *y) {
#if GV_FLOAT_LANES == 8
    GV_UNROLL
    for (size_t k = 2048; k < 2048 + 256; k += 64) {
        gv_prefetch((const char *)x + k);
        gv_prefetch_to_write((const char *)y + k);
    }
#else
    (void)x, (void)y;
#endif
}

#if GV_FLOAT_TABLES == GV_ROWS
/* Rows are found for so many inputs at once, so that they are known when the table is read; for a whole block, the
   level-1 cache would not hold inputs, outputs, places and rows. A multiple of 64. */
#define GV_ROWS_AHEAD 512

#define gv_f32_find_ahead GV_TYPED(gv_f32_find_ahead)
GV_INLINE void gv_f32_find_ahead(const gv_float_table *f, const float *x, size_t n, uint32_t *offset) {
    for (size_t i = 0; i < n; i += GV_FLOAT_LANES) gv_floats_store_offsets(f, x + i, offset + i);
}
#else
#define gv_f32_locate GV_TYPED(gv_f32_locate)
GV_INLINE gv_float_located gv_f32_locate(const gv_float_table *f, const float *x) {
    gv_floats input = gv_floats_load(x);
    return gv_float_locate(f, input, gv_float_find(f, input));
}
#endif

/* y by pieces; n is a multiple of 64. The number of inputs that are not decided, their places in `place`; where they are
   more than `most`, it stops. */
#define gv_f32_by_pieces GV_TYPED(gv_f32_by_pieces)
GV_INLINE size_t gv_f32_by_pieces(const gv_float_table *f, int derivative, gv_f32_limits limits, const float *x,
                                  float *y, size_t n, size_t most, unsigned short *place) {
    size_t count = 0, step = GV_FLOAT_LANES;
#if GV_FLOAT_TABLES == GV_ROWS
    uint32_t offset[GV_ROWS_AHEAD];
#else /* three groups of lanes are in work at once, each at another step, so that few operations wait for one another */
    gv_float_located next = gv_f32_locate(f, x);
    gv_float_sloped along = gv_float_along(f, next);
    next = gv_f32_locate(f, x + step);
#endif
    for (size_t i = 0; i < n && count <= most; i += 64) {
        uint64_t lanes = 0;
        gv_f32_prefetch(x + i, y + i);
#if GV_FLOAT_TABLES == GV_ROWS
        if (i % GV_ROWS_AHEAD == 0) gv_f32_find_ahead(f, x + i, gv_least(n - i, GV_ROWS_AHEAD), offset);
#endif
        GV_ROLLED
        for (size_t k = 0; k < 64; k += step) { /* unrolled, it has not registers enough */
            gv_floats input = gv_floats_load(x + i + k);
#if GV_FLOAT_TABLES == GV_ROWS
            gv_floats_place at = gv_floats_find_rows(f, offset + i % GV_ROWS_AHEAD + k);
            gv_float_sloped along = gv_float_along(f, gv_float_locate(f, input, at));
            lanes |= (uint64_t)gv_float_round(gv_float_sum(f, derivative, input, along), y + i + k) << k;
#else
            gv_float_located ahead = gv_f32_locate(f, x + gv_least(i + k + 2 * step, n - step));
            gv_float_sloped later = gv_float_along(f, next);
            lanes |= (uint64_t)gv_float_round(gv_float_sum(f, derivative, input, along), y + i + k) << k;
            next = ahead;
            along = later;
#endif
        }
        lanes = gv_f32_settled(limits, derivative, x + i, y + i, lanes);
        count = gv_append_places(place, count, lanes, i); /* here: the units of integers have little else to do */
    }
    return count;
}

#if GV_FLOAT_TABLES == GV_ROWS
/* The same for gelu and gelu_tanh. The sum has a loop of its own where that was measured: in each loop few operations wait
   for one another, so that the processor has more groups of lanes in work at once. */
#define GV_SUM_APART (GV_FLOAT_LANES == 8)
#define gv_f32_by_cubics GV_TYPED(gv_f32_by_cubics)
GV_INLINE size_t gv_f32_by_cubics(const gv_float_cubics *f, int derivative, gv_f32_limits limits, const float *x,
                                  float *y, size_t n, size_t most, unsigned short *place) {
    size_t count = 0, step = GV_FLOAT_LANES;
    uint32_t offset[64]; /* more would leave the level-1 cache less for the table */
    GV_FLOAT_ALIGNED(64) float h[64];
#if GV_SUM_APART
    GV_FLOAT_ALIGNED(64) float hi[64], lo[64], loss[64];
#endif
    for (size_t i = 0; i < n && count <= most; i += 64) {
        uint64_t lanes = 0;
        gv_f32_prefetch(x + i, y + i);
        for (size_t k = 0; k < 64; k += step)
            gv_floats_store(h + k, gv_float_cubic_find(f, gv_floats_load(x + i + k), offset + k));
        GV_ROLLED
        for (size_t k = 0; k < 64; k += step) {
            gv_floats row[4];
            gv_floats_columns_at(f->rows, offset + k, row);
            gv_floats_sum q = gv_float_cubic(f, gv_floats_load(h + k), row);
#if GV_SUM_APART
            gv_floats_store(hi + k, q.hi);
            gv_floats_store(lo + k, q.lo);
            gv_floats_store(loss + k, q.loss);
        }
        GV_ROLLED
        for (size_t k = 0; k < 64; k += step) {
            gv_floats_sum q = {gv_floats_load(hi + k), gv_floats_load(lo + k), gv_floats_load(loss + k)};
#endif
            lanes |= (uint64_t)gv_float_round(gv_float_cubic_sum(gv_floats_load(x + i + k), q), y + i + k) << k;
        }
        lanes = gv_f32_settled(limits, derivative, x + i, y + i, lanes);
        count = gv_append_places(place, count, lanes, i);
    }
    return count;
}
#endif

/* The same for silu, gelu_sigmoid and their gradients, for every x; four groups of lanes are in work at once */
#define gv_f32_by_sigmoid GV_TYPED(gv_f32_by_sigmoid)
GV_INLINE size_t gv_f32_by_sigmoid(const gv_float_rate *s, int derivative, gv_f32_limits limits, const float *x,
                                   float *y, size_t n, size_t most, unsigned short *place) {
    size_t count = 0, step = GV_FLOAT_LANES;
    gv_floats_pair e = gv_float_exp(gv_float_sigmoid_reduce(s, x));
    gv_float_divisor by = gv_float_one_plus(e);
    e = gv_float_exp(gv_float_sigmoid_reduce(s, x + step));
    gv_float_reduced next = gv_float_sigmoid_reduce(s, x + 2 * step);
    for (size_t i = 0; i < n && count <= most; i += 64) {
        uint64_t lanes = 0;
        GV_ROLLED
        for (size_t k = 0; k < 64; k += step) {
            gv_float_reduced ahead = gv_float_sigmoid_reduce(s, x + gv_least(i + k + 3 * step, n - step));
            gv_floats_pair next_e = gv_float_exp(next);
            gv_float_divisor next_by = gv_float_one_plus(e);
            lanes |= (uint64_t)gv_float_sigmoid(s, derivative, gv_floats_load(x + i + k), by, y + i + k) << k;
            next = ahead;
            e = next_e;
            by = next_by;
        }
        lanes = gv_f32_settled(limits, derivative, x + i, y + i, lanes);
        count = gv_append_places(place, count, lanes, i);
    }
    return count;
}

#if GV_FLOAT_TABLES == GV_REGISTERS
#define gv_f32_gaussian_start GV_TYPED(gv_f32_gaussian_start)
GV_INLINE gv_float_gaussian_work gv_f32_gaussian_start(const gv_float_table *f, const float *x) {
    gv_floats input = gv_floats_load(x);
    return gv_float_gaussian_start(f, input, gv_float_find(f, input));
}
#endif

/* The same for gelu and gelu_grad, for every x */
#define gv_f32_by_gaussian GV_TYPED(gv_f32_by_gaussian)
GV_INLINE size_t gv_f32_by_gaussian(const gv_float_table *f, int derivative, gv_f32_limits limits, const float *x,
                                    float *y, size_t n, size_t most, unsigned short *place) {
    size_t count = 0, step = GV_FLOAT_LANES;
#if GV_FLOAT_TABLES == GV_ROWS
    uint32_t offset[GV_ROWS_AHEAD];
#else /* as in gv_f32_by_pieces */
    gv_float_gaussian_work next = gv_f32_gaussian_start(f, x);
    gv_float_gaussian_factors factors = gv_float_gaussian_evaluate(f, next);
    next = gv_f32_gaussian_start(f, x + step);
#endif
    (void)most; /* what it leaves is not sent elsewhere */
    for (size_t i = 0; i < n; i += 64) {
        uint64_t lanes = 0;
#if GV_FLOAT_TABLES == GV_ROWS
        if (i % GV_ROWS_AHEAD == 0) gv_f32_find_ahead(f, x + i, gv_least(n - i, GV_ROWS_AHEAD), offset);
#endif
        GV_ROLLED
        for (size_t k = 0; k < 64; k += step) {
            gv_floats input = gv_floats_load(x + i + k);
#if GV_FLOAT_TABLES == GV_ROWS
            gv_float_gaussian_work work =
                gv_float_gaussian_start(f, input, gv_floats_find_rows(f, offset + i % GV_ROWS_AHEAD + k));
            gv_float_gaussian_factors factors = gv_float_gaussian_evaluate(f, work);
            lanes |= (uint64_t)gv_float_gaussian_round(derivative, limits.zero, input, factors, y + i + k) << k;
#else
            gv_float_gaussian_work ahead = gv_f32_gaussian_start(f, x + gv_least(i + k + 2 * step, n - step));
            gv_float_gaussian_factors later = gv_float_gaussian_evaluate(f, next);
            lanes |= (uint64_t)gv_float_gaussian_round(derivative, limits.zero, input, factors, y + i + k) << k;
            next = ahead;
            factors = later;
#endif
        }
        lanes = gv_f32_settled(limits, derivative, x + i, y + i, lanes);
        count = gv_append_places(place, count, lanes, i);
    }
    return count;
}

#if GV_FLOAT_TABLES == GV_ROWS
typedef struct {
    gv_f32_stage_1 pieces;
    const gv_float_table *gaussian;
    gv_f32_rest gathered;
} gv_f32_by;

GV_INLINE size_t gv_whole_64(size_t n) { return (n + 63) / 64 * 64; }

/* Wide inputs of gelu and gelu_grad: sorted into those for the pieces, those beyond and those that have a limit as result.
   The first two are then evaluated without gaps, all stages: none is left. */
#define gv_f32_by_sorting GV_TYPED(gv_f32_by_sorting)
GV_INLINE size_t gv_f32_by_sorting(const gv_f32_by *f, int derivative, gv_f32_limits limits, const float *x, float *y,
                                   size_t n, size_t most, unsigned short *place) {
    float near[GV_BLOCK_FLOATS + 64], near_y[GV_BLOCK_FLOATS + 64], far[GV_BLOCK_FLOATS + 64],
        far_y[GV_BLOCK_FLOATS + 64];
    uint32_t near_lanes[GV_BLOCK_FLOATS / GV_FLOAT_LANES], far_lanes[GV_BLOCK_FLOATS / GV_FLOAT_LANES];
    size_t nears = 0, fars = 0;
    (void)most; /* nothing is left */
    for (size_t i = 0; i < n; i += GV_FLOAT_LANES) {
        gv_floats input = gv_floats_load(x + i);
        uint32_t *in_near = near_lanes + i / GV_FLOAT_LANES, *in_far = far_lanes + i / GV_FLOAT_LANES;
        gv_prefetch_to_write(y + i); /* while this block is evaluated memory has little to do */
        gv_floats_sort(input, limits.zero, GV_FLOAT_GAUSSIAN_EDGE, limits.whole, in_near, in_far);
        gv_floats_compress(near + nears, input, *in_near);
        gv_floats_compress(far + fars, input, *in_far);
        nears += (size_t)gv_count_bits(*in_near);
        fars += (size_t)gv_count_bits(*in_far);
    }
    for (size_t k = 0; k < 64; k++) {
        near[nears + k] = 1.0f;
        far[fars + k] = GV_FLOAT_GAUSSIAN_EDGE;
    }
    f->gathered(near, near_y, place, f->pieces(near, near_y, gv_whole_64(nears), n, place));
    f->gathered(far, far_y, place,
                gv_f32_by_gaussian(f->gaussian, derivative, limits, far, far_y, gv_whole_64(fars), n, place));
    nears = fars = 0;
    for (size_t i = 0; i < n; i += GV_FLOAT_LANES) {
        uint32_t in_near = near_lanes[i / GV_FLOAT_LANES], in_far = far_lanes[i / GV_FLOAT_LANES];
        gv_prefetch((const char *)(x + i) + n * sizeof *x); /* of the next block */
        gv_floats result = gv_floats_limit(gv_floats_load(x + i), derivative);
        result = gv_floats_expand(result, near_y + nears, in_near);
        gv_floats_store(y + i, gv_floats_expand(result, far_y + fars, in_far));
        nears += (size_t)gv_count_bits(in_near);
        fars += (size_t)gv_count_bits(in_far);
    }
    return 0;
}
#endif
#else
#define GV_ARRAY_GROUP GV_GROUP
typedef struct { float zero, whole; } gv_f32_limits;
#endif

/* Stage 1 of a block by an enclosure: n is a multiple of GV_GROUP, x and y do not overlap. */
#define gv_f32_block GV_TYPED(gv_f32_block)
GV_INLINE size_t gv_f32_block(gv_enclose near, float limit, gv_f32_limits limits, int derivative, const float *x,
                              float *y, size_t n, unsigned short *place) {
    unsigned short undecided[GV_BLOCK_FLOATS / GV_GROUP + 8];
    size_t count = 0;
    for (size_t i = 0; i < n; i += GV_GROUP)
        undecided[i / GV_GROUP] = (unsigned short)gv_f32_group(near, limit, x + i, y + i);
    memset(undecided + n / GV_GROUP, 0, 8 * sizeof *undecided);
    for (size_t i = 0; i < n; i += 64) {
        uint64_t lanes = 0;
        for (int k = 0; k < 64 / GV_GROUP; k++) lanes |= (uint64_t)undecided[i / GV_GROUP + (size_t)k] << GV_GROUP * k;
#if GV_FLOAT_TABLES /* whose n is a multiple of 64 */
        lanes = gv_f32_settled(limits, derivative, x + i, y + i, lanes);
#else
        (void)limits, (void)derivative;
#endif
        count = gv_append_places(place, count, lanes, i);
    }
    return count;
}

#define GV_WIDE_BLOCKS 63 /* after a block of which it left too much, so many are not tried */

/* How to do a block of inputs. `first`, if there is one, may leave 1 of `share` inputs. */
#define gv_f32_stages GV_TYPED(gv_f32_stages)
typedef struct {
    gv_f32_stage_1 first;
    size_t share;
    gv_f32_stage_1 others;
    gv_f32_rest gathered;
} gv_f32_stages;

/* The result: for how many blocks `first` is not to be tried; `skipped`: the same before. */
#define gv_f32_staged GV_TYPED(gv_f32_staged)
GV_INLINE int gv_f32_staged(const gv_f32_stages *by, int skipped, const float *x, float *y, size_t n) {
    unsigned short place[GV_BLOCK_FLOATS + GV_PLACES];
    size_t count = n;
    if (by->first && !skipped) {
        count = by->first(x, y, n, n / by->share, place);
        if (count > n / by->share) skipped = 1 + GV_WIDE_BLOCKS;
    }
    if (!by->first || skipped) count = by->others(x, y, n, n, place);
    if (count) by->gathered(x, y, place, count);
    return skipped - (skipped > 0);
}

/* Fewer than GV_ARRAY_GROUP inputs */
#define gv_f32_few GV_TYPED(gv_f32_few)
GV_SELDOM void gv_f32_few(const gv_f32_stages *by, int skipped, const float *x, float *y, size_t n) {
    float input[GV_ARRAY_GROUP], output[GV_ARRAY_GROUP];
    for (size_t i = 0; i < GV_ARRAY_GROUP; i++) input[i] = i < n ? x[i] : 1.0f;
    gv_f32_staged(by, skipped, input, output, GV_ARRAY_GROUP);
    memcpy(y, output, n * sizeof *y);
}

/* Up to the first group of outputs that no cache line cuts: NumPy aligns arrays to 16 bytes */
#define gv_f32_before_line GV_TYPED(gv_f32_before_line)
GV_INLINE size_t gv_f32_before_line(const float *y) {
    return (size_t)(-((uintptr_t)y / sizeof *y) & (gv_least(GV_ARRAY_GROUP, 16) - 1));
}

#define gv_f32_array GV_TYPED(gv_f32_array)
GV_INLINE void gv_f32_array(const gv_f32_stages *by, const float *x, float *y, size_t n) {
    float input[GV_BLOCK_FLOATS];
    int skipped = 0;
    size_t before = n < GV_BLOCK_FLOATS ? 0 : gv_f32_before_line(y);
    if (before) gv_f32_few(by, GV_WIDE_BLOCKS, x, y, before);
    x += before;
    y += before;
    n -= before;
    while (n >= GV_ARRAY_GROUP) {
        size_t count = n < GV_BLOCK_FLOATS ? n & ~(size_t)(GV_ARRAY_GROUP - 1) : GV_BLOCK_FLOATS;
        const float *from = x == y ? (const float *)memcpy(input, x, count * sizeof *x) : x;
        skipped = gv_f32_staged(by, skipped, from, y, count);
        x += count;
        y += count;
        n -= count;
    }
    if (n) gv_f32_few(by, skipped, x, y, n);
}

#if GV_LANES > 1 && GV_HAVE_FMA && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if defined(__aarch64__)
#pragma GCC optimize("no-schedule-insns") /* with it, which is the default there, registers do not suffice */
#else
#pragma GCC optimize("schedule-insns") /* in enclosures the parts of a group side by side (docs/decisions.md) */
#endif
#endif
#define GV_DEFINE_GATHERED(name, zero, whole) \
    static const gv_f32_limits GV_TYPED(gv_limits_##name) = {zero, whole}; \
    static void GV_TYPED(gv_gathered_##name)(const float *x, float *y, const unsigned short *place, size_t count) { \
        gv_f32_gathered(GV_TYPED(gv_##name##_enclosure), gv_cr_##name##_accurate, x, y, place, count); \
    }

GV_DEFINE_GATHERED(gelu, -14.5f, 5.5f)
GV_DEFINE_GATHERED(gelu_grad, -14.625f, 6.0f)
GV_DEFINE_GATHERED(gelu_tanh, -11.0f, 6.25f)
GV_DEFINE_GATHERED(gelu_tanh_grad, -11.0f, 6.25f)
GV_DEFINE_GATHERED(gelu_sigmoid, -66.0f, 12.5f)
GV_DEFINE_GATHERED(gelu_sigmoid_grad, -66.0f, 12.5f)
GV_DEFINE_GATHERED(silu, -112.0f, 21.0f)
GV_DEFINE_GATHERED(silu_grad, -112.0f, 21.0f)

/* limit: the largest |x| of the enclosure near 0 */
#define GV_DEFINE_ENCLOSED(name, derivative, limit) \
    static size_t GV_TYPED(gv_enclosed_##name)(const float *x, float *y, size_t n, size_t most, \
                                               unsigned short *place) { \
        (void)most; /* what it leaves is not sent elsewhere */ \
        return gv_f32_block(GV_TYPED(gv_##name##_near), limit, GV_TYPED(gv_limits_##name), derivative, x, y, n, \
                            place); \
    }

GV_DEFINE_ENCLOSED(gelu_tanh, 0, GV_NEAR_GELU_TANH)
GV_DEFINE_ENCLOSED(gelu_tanh_grad, 1, GV_NEAR_GELU_TANH_GRAD)
GV_DEFINE_ENCLOSED(gelu_sigmoid, 0, GV_NEAR_GELU_SIGMOID)
GV_DEFINE_ENCLOSED(silu, 0, GV_NEAR_SILU)
#if !GV_FLOAT_TABLES
GV_DEFINE_ENCLOSED(gelu, 0, (float)GV_NEAR_LIMIT)
GV_DEFINE_ENCLOSED(gelu_grad, 1, (float)GV_NEAR_LIMIT)
GV_DEFINE_ENCLOSED(gelu_sigmoid_grad, 1, GV_NEAR_GELU_SIGMOID_GRAD)
GV_DEFINE_ENCLOSED(silu_grad, 1, GV_NEAR_SILU_GRAD)
#endif
#if GV_LANES > 1 && GV_HAVE_FMA && defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#if GV_FLOAT_TABLES
/* gv_<kind>_<name>: stage 1 by `by` */
#define GV_DEFINE_FLOATS(kind, name, by, table, derivative) \
    static size_t GV_TYPED(gv_##kind##_##name)(const float *x, float *y, size_t n, size_t most, \
                                               unsigned short *place) { \
        return by(table, derivative, GV_TYPED(gv_limits_##name), x, y, n, most, place); \
    }
#define GV_DEFINE_PIECES(name, derivative) \
    GV_DEFINE_FLOATS(pieces, name, gv_f32_by_pieces, &gv_##name##_float_table, derivative)

#if GV_FLOAT_TABLES == GV_ROWS
GV_DEFINE_FLOATS(pieces, gelu, gv_f32_by_cubics, &gv_gelu_cubics, 0)
GV_DEFINE_FLOATS(pieces, gelu_tanh, gv_f32_by_cubics, &gv_gelu_tanh_cubics, 0)
#else
GV_DEFINE_PIECES(gelu, 0)
GV_DEFINE_PIECES(gelu_tanh, 0)
#endif
GV_DEFINE_PIECES(gelu_grad, 1)
GV_DEFINE_PIECES(gelu_tanh_grad, 1)
GV_DEFINE_PIECES(gelu_sigmoid_grad, 1)
GV_DEFINE_PIECES(silu_grad, 1)
GV_DEFINE_FLOATS(sigmoid, gelu_sigmoid, gv_f32_by_sigmoid, &gv_gelu_sigmoid_rate, 0)
GV_DEFINE_FLOATS(sigmoid, gelu_sigmoid_grad, gv_f32_by_sigmoid, &gv_gelu_sigmoid_rate, 1)
GV_DEFINE_FLOATS(sigmoid, silu, gv_f32_by_sigmoid, &gv_silu_rate, 0)
GV_DEFINE_FLOATS(sigmoid, silu_grad, gv_f32_by_sigmoid, &gv_silu_rate, 1)
#if GV_FLOAT_TABLES == GV_REGISTERS
GV_DEFINE_FLOATS(wide, gelu, gv_f32_by_gaussian, &gv_gelu_gaussian_float_table, 0)
GV_DEFINE_FLOATS(wide, gelu_grad, gv_f32_by_gaussian, &gv_gelu_grad_gaussian_float_table, 1)
#else
static const gv_f32_by gv_gelu_by = {GV_TYPED(gv_pieces_gelu), &gv_gelu_gaussian_float_table,
                                     GV_TYPED(gv_gathered_gelu)};
static const gv_f32_by gv_gelu_grad_by = {GV_TYPED(gv_pieces_gelu_grad), &gv_gelu_grad_gaussian_float_table,
                                          GV_TYPED(gv_gathered_gelu_grad)};
GV_DEFINE_FLOATS(wide, gelu, gv_f32_by_sorting, &gv_gelu_by, 0)
GV_DEFINE_FLOATS(wide, gelu_grad, gv_f32_by_sorting, &gv_gelu_grad_by, 1)
#endif
#define GV_STAGE_1(name, first, share, others) GV_TYPED(gv_##first##_##name), share, GV_TYPED(gv_##others##_##name)
#else
#define GV_STAGE_1(name, first, share, others) 0, 1, GV_TYPED(gv_enclosed_##name)
#endif

/* first, share, others: of gv_f32_stages */
#define GV_DEFINE_F32(name, first, share, others) \
    static void GV_TYPED(gv_cr_##name##_f32)(const float *x, float *y, size_t n) { \
        const gv_f32_stages stages = {GV_STAGE_1(name, first, share, others), GV_TYPED(gv_gathered_##name)}; \
        gv_f32_array(&stages, x, y, n); \
    }

GV_DEFINE_F32(gelu, pieces, 8, wide)
GV_DEFINE_F32(gelu_grad, pieces, 8, wide)
GV_DEFINE_F32(gelu_tanh, pieces, 8, enclosed)
GV_DEFINE_F32(gelu_tanh_grad, pieces, 8, enclosed)
GV_DEFINE_F32(gelu_sigmoid, sigmoid, 2, enclosed)
GV_DEFINE_F32(gelu_sigmoid_grad, pieces, 8, sigmoid)
GV_DEFINE_F32(silu, sigmoid, 2, enclosed)
GV_DEFINE_F32(silu_grad, pieces, 8, sigmoid)
