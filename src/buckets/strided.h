/* Strided order: the order in which a target is called with a run of n consecutive float32 inputs. The call meets
     x[GV_STREAMS j + t] = the input of ordinal first + t (n/GV_STREAMS) + j,
   GV_STREAMS runs of consecutive inputs in turn, the stride n/GV_STREAMS apart. Inputs that share a vector register are
   then far from each other on the line, so that a mistake between lanes shows; and to make, check and read such inputs
   costs next to nothing, while a random permutation of 2^32 inputs costs more than the target. */
#ifndef GV_BUCKETS_STRIDED_H
#define GV_BUCKETS_STRIDED_H
#include "outputs.h"

#define GV_STREAMS 8
#define GV_ROWS 16 /* steps of all streams that are compared or read at once: a cache line of each */

/* bits of an ordinal of 32 bits */
GV_INLINE uint32_t gv_bits_32(int32_t ordinal) {
    return (uint32_t)ordinal ^ ((0u - (uint32_t)(ordinal < 0)) & 0x7fffffffu);
}

/* GV_ROWS steps of all streams, from the first step on, in the order of the call. Indices are size_t: with int, whose sums
   wrap (-fwrapv), gcc scatters the stores, which takes six times as long. */
typedef struct { int32_t ordinal[GV_ROWS * GV_STREAMS]; } gv_steps;

GV_INLINE gv_steps gv_first_steps(int64_t first, size_t stride) {
    gv_steps steps;
    for (size_t i = 0; i < GV_ROWS * GV_STREAMS; i++)
        steps.ordinal[i] = (int32_t)first + (int32_t)(i % GV_STREAMS * stride + i / GV_STREAMS);
    return steps;
}

/* n inputs, a multiple of GV_STREAMS, and one more: the first again, so that the call has an odd length */
GV_CLONES static void gv_fill_strided(int64_t first, uint32_t *x, size_t n) {
    gv_steps steps = gv_first_steps(first, n / GV_STREAMS);
    for (size_t done = 0; done < n; done += GV_ROWS * GV_STREAMS) {
        size_t size = n - done < GV_ROWS * GV_STREAMS ? n - done : GV_ROWS * GV_STREAMS;
        int32_t step = (int32_t)(done / GV_STREAMS);
        for (size_t i = 0; i < size; i++) x[done + i] = gv_bits_32(steps.ordinal[i] + step);
    }
    x[n] = x[0];
}

/* whether x is no longer what gv_fill_strided wrote */
GV_CLONES static int gv_is_changed(int64_t first, const uint32_t *x, size_t n) {
    gv_steps steps = gv_first_steps(first, n / GV_STREAMS);
    uint32_t changed = x[n] ^ x[0];
    for (size_t done = 0; done < n; done += GV_ROWS * GV_STREAMS) {
        size_t size = n - done < GV_ROWS * GV_STREAMS ? n - done : GV_ROWS * GV_STREAMS;
        int32_t step = (int32_t)(done / GV_STREAMS);
        for (size_t i = 0; i < size; i++) changed |= gv_bits_32(steps.ordinal[i] + step) ^ x[done + i];
    }
    return changed != 0;
}

/* the place in the call of input number i of the run */
GV_INLINE size_t gv_strided_place(size_t i, size_t stride) { return GV_STREAMS * (i % stride) + i / stride; }

#define GV_TILE 128 /* steps of all streams: 4 KiB, written stream by stream, which lie a power of two apart */

/* m steps, the stream t to ordered + t stride */
GV_CLONES static void gv_order_tile(const uint32_t *got, uint32_t *ordered, size_t stride, size_t m) {
    uint32_t tile[GV_STREAMS][GV_TILE];
    for (size_t j = 0; j < m; j++) {
        const uint32_t *step = got + GV_STREAMS * j; /* one statement for each: loads of a vector, exchanged in it */
        tile[0][j] = step[0];
        tile[1][j] = step[1];
        tile[2][j] = step[2];
        tile[3][j] = step[3];
        tile[4][j] = step[4];
        tile[5][j] = step[5];
        tile[6][j] = step[6];
        tile[7][j] = step[7];
    }
    for (size_t t = 0; t < GV_STREAMS; t++) memcpy(ordered + t * stride, tile[t], m * sizeof *ordered);
}

/* Outputs in the order of their inputs; 0 when there is no memory. */
static int gv_order_outputs(gv_reducer *r, const uint32_t *got, size_t n) {
    size_t stride = n / GV_STREAMS;
    if (n > r->ordered_capacity) {
        uint32_t *grown = realloc(r->ordered, n * sizeof *grown);
        if (!grown) return 0;
        r->ordered = grown;
        r->ordered_capacity = n;
    }
    for (size_t j = 0, m; j < stride; j += m) {
        m = stride - j < GV_TILE ? stride - j : GV_TILE;
        gv_order_tile(got + GV_STREAMS * j, r->ordered + j, stride, m);
    }
    return 1;
}

#endif
