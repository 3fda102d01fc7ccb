/* The kernels of src/cr over an array of any length, in the default floating-point environment. */
#ifndef GV_ARRAYS_LOOPS_H
#define GV_ARRAYS_LOOPS_H
#include <string.h>
#include "../cr/cr.h"
#include "../fenv/environment.h"

#define GV_BLOCK_VALUES 2048 /* three such blocks on the stack: 48 KiB */

static void gv_float32_loop(gv_cr_f32 kernel, const float *x, float *y, size_t n) {
    gv_environment callers;
    gv_enter_default(&callers);
    kernel(x, y, n);
    gv_leave_default(&callers);
}

typedef struct {
    double inputs[GV_BLOCK_VALUES]; /* the block's inputs, which in place are overwritten */
    double x[GV_BLOCK_VALUES];    /* undecided inputs, and their places in the whole array */
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
