/* What the fast kernels leave open: ties, roots of gradients, NaN, and what lies too near a rounding boundary. */
#ifndef GV_CR_CERTAIN_H
#define GV_CR_CERTAIN_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../truth/dd.h"

/* The eight functions that have kernels. */
#define GV_CR_FUNCTIONS(F) \
    F(gelu) F(gelu_tanh) F(gelu_sigmoid) F(silu) F(gelu_grad) F(gelu_tanh_grad) F(gelu_sigmoid_grad) F(silu_grad)

/* The correctly rounded result in double-double, for finite x other than 0, and the canonical NaN for NaN.
   That the double-double bound decides all 2^32 inputs is shown by running them (tests/truth/test_float32_kernels.py). */
#define GV_DECLARE_CERTAIN(name) float gv_cr_##name##_certain(float x);
GV_CR_FUNCTIONS(GV_DECLARE_CERTAIN)

#if defined(__GNUC__)
#define gv_count_bits(u) __builtin_popcountll(u)
#define gv_lowest_bit(u) __builtin_ctzll((u) | UINT64_C(1) << 63)
#else
GV_INLINE int gv_count_bits(uint64_t u) {
    int count = 0;
    for (; u; u &= u - 1) count++;
    return count;
}
GV_INLINE int gv_lowest_bit(uint64_t u) { return u ? gv_count_bits((u & (0 - u)) - 1) : 63; }
#endif

/* Appends first + k to `place` for every bit k of `open`: the new count. Writes up to four places more.
   Four are written unasked, so that seldom is there anything to predict. */
GV_INLINE size_t gv_note_places(unsigned short *place, size_t count, uint64_t open, size_t first) {
    int more = gv_count_bits(open);
    for (int k = 0; k < 4; k++, open &= open - 1) place[count + (size_t)k] = (unsigned short)(first + (size_t)gv_lowest_bit(open));
    for (int k = 4; k < more; k++, open &= open - 1) place[count + (size_t)k] = (unsigned short)(first + (size_t)gv_lowest_bit(open));
    return count + (size_t)more;
}

#endif
