/* The kernels of src/cr over an array of any length, in the default floating-point environment. */
#ifndef GV_ARRAYS_LOOPS_H
#define GV_ARRAYS_LOOPS_H
#include <string.h>
#include "../cr/cr.h"
#include "../cr/lookup.h"
#include "../fenv/environment.h"

#define GV_BLOCK_VALUES 2048 /* three such blocks on the stack: 48 KiB */

static void gv_float32_loop(gv_cr_f32 kernel, const float *x, float *y, size_t n) {
    gv_environment callers;
    gv_enter_default(&callers);
    kernel(x, y, n);
    gv_leave_default(&callers);
}

#define GV_BF16_LEAST 2048 /* elements: shorter arrays are looked up as fast */
#define GV_BF16_FIRST 128
#define GV_BF16_BLOCK 2048
#define GV_BF16_WIDE_BLOCKS 127 /* after a block of which the kernel left too much, so many are looked up */

/* 16-bit formats. t: the table of all results; kernel: of bfloat16, or NULL. What it would be slower for is looked up. */
static void gv_16_bit_loop(gv_cr_bf16 kernel, const uint16_t *t, const uint16_t *x, uint16_t *y, size_t n) {
    gv_environment callers;
    size_t block = GV_BF16_FIRST;
    int skipped = 0;
    if (!kernel || n < GV_BF16_LEAST) {
        gv_look_up(t, x, y, n);
        return;
    }
    gv_enter_default(&callers);
    while (n >= GV_CR_BF16_GROUP) {
        size_t count = n < block ? n - n % GV_CR_BF16_GROUP : block;
        if (!skipped) skipped = kernel(t, x, y, count) > count / GV_CR_BF16_GROUP / 4 ? GV_BF16_WIDE_BLOCKS : 0;
        else {
            gv_look_up(t, x, y, count);
            skipped--;
        }
        x += count;
        y += count;
        n -= count;
        block = GV_BF16_BLOCK;
    }
    gv_leave_default(&callers);
    gv_look_up(t, x, y, n);
}

typedef struct {
    double inputs[GV_BLOCK_VALUES]; /* the block's inputs, which in place are overwritten */
    double x[GV_BLOCK_VALUES]; /* undecided inputs, and their places in the whole array */
    size_t places[GV_BLOCK_VALUES], count;
} gv_undecided;

/* From `start` to the end of the first block with undecided inputs, or to n; returns where it stopped. */
static size_t gv_float64_loop(gv_cr_f64 kernel, const double *x, double *y, size_t start, size_t n,
                              gv_undecided *undecided) {
    gv_environment callers;
    gv_enter_default(&callers);
    undecided->count = 0;
    while (start < n && !undecided->count) {
        size_t block = n - start < GV_BLOCK_VALUES ? n - start : GV_BLOCK_VALUES;
        const double *source = x + start;
        if (x == y) source = (const double *)memcpy(undecided->inputs, source, block * sizeof *x);
        undecided->count = kernel(source, y + start, block, undecided->places);
        for (size_t i = 0; i < undecided->count; i++) {
            undecided->x[i] = source[undecided->places[i]];
            undecided->places[i] += start;
        }
        start += block;
    }
    gv_leave_default(&callers);
    return start;
}

#endif
