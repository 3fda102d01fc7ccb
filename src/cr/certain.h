/* What the fast kernels leave open: ties, roots of gradients, NaN, and what lies too near a rounding boundary. */
#ifndef GV_CR_CERTAIN_H
#define GV_CR_CERTAIN_H
#include <stdint.h>
#include <string.h>
#include "../core/dd.h"

/* The eight functions that have kernels. */
#define GV_CR_FUNCTIONS(F) \
    F(gelu) F(gelu_tanh) F(gelu_sigmoid) F(silu) F(gelu_grad) F(gelu_tanh_grad) F(gelu_sigmoid_grad) F(silu_grad)

/* The correctly rounded result in double-double, for finite x other than 0, and the canonical NaN for NaN.
   That the double-double bound decides all 2^32 inputs is shown by running them (tests/test_float32_kernels.py). */
#define GV_DECLARE_CERTAIN(name) float gv_cr_##name##_certain(float x);
GV_CR_FUNCTIONS(GV_DECLARE_CERTAIN)

/* Appends first + k to `place` for every bit k of `open`: the new count. */
GV_INLINE int gv_note_places(unsigned short *place, int count, uint64_t open, int first) {
    for (int k = 0; open; k++, open >>= 1) {
#if defined(__GNUC__)
        int skip = __builtin_ctzll(open);
        k += skip;
        open >>= skip;
#endif
        if (open & 1) place[count++] = (unsigned short)(first + k);
    }
    return count;
}

#endif
