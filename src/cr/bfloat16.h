/* Correctly rounded bfloat16 by float32 operations, where AVX-512 holds the table of a function in registers.

   f(x) = max(x, 0) - t(|x|), f'(-a) = t'(a), f'(a) = 1 - t'(a); v = t or t' in 32 pieces,
     v(a) = c0 + c1 a + c2 a^2 + c3 a^3,  a = min(|x|, last), the piece by a inverse rounded to an integer.
   No bound is needed: the coefficients were chosen so that each input rounds as it must, by the very operations below
   (tools/make_bfloat16_tables.py). Looked up instead: NaN, |x| < 2^-125, where x/2 may have to be rounded, and negative
   x below -limit, where f is so small that 32 pieces do not reach.

   Every second group of 32 is looked up anyway: registers of AVX-512 and loads are busy at the same time
   (docs/decisions.md).

   Results    = 0 of 65,536 inputs wrong, each function: tests/truth/test_bfloat16_pieces.py, one lane in portable C
              and all lanes where the machine has them */
#ifndef GV_CR_BFLOAT16_H
#define GV_CR_BFLOAT16_H
#include "bfloat16_lanes.h"
#include "cr.h"
#include "lookup.h"

#define GV_BF16_SMALLEST 0x0100 /* 2^-125 */

GV_INLINE gv_bf16_floats gv_bf16_value(const gv_bf16_table *f, int derivative, gv_bf16_floats x) {
    gv_bf16_floats a = gv_bf16_clamped(x, f->last), p;
    gv_bf16_place at = gv_bf16_find(gv_bf16_madd_all(a, f->inverse, 0x1.8p23f));
    gv_bf16_floats c0 = gv_bf16_column(f, 0, at);
    p = gv_bf16_madd(gv_bf16_column(f, 3, at), a, gv_bf16_column(f, 2, at));
    p = gv_bf16_madd(p, a, gv_bf16_column(f, 1, at));
    if (derivative) return gv_bf16_or_rest(gv_bf16_madd(p, a, c0), x);
    return gv_bf16_less(p, a, gv_bf16_sub(gv_bf16_not_negative(x), c0));
}

/* y of GV_BF16_LANES inputs; bit i: lane i is to be looked up */
GV_INLINE uint32_t gv_bf16_piece(const gv_bf16_table *f, int derivative, gv_bf16_bits x, uint16_t *y) {
    gv_bf16_floats even = gv_bf16_value(f, derivative, gv_bf16_even(x));
    gv_bf16_floats odd = gv_bf16_value(f, derivative, gv_bf16_odd(x));
    gv_bf16_store(y, gv_bf16_rounded(even, odd));
    return ~gv_bf16_below(x, GV_BF16_SMALLEST, 0x7f81 - GV_BF16_SMALLEST,
                          (uint16_t)((0x8000 | f->limit) + 1 - GV_BF16_SMALLEST));
}

#if GV_BF16_LANES == 32
/* Bits of `lanes`: y from the table */
GV_INLINE void gv_bf16_look_up_lanes(const uint16_t *t, gv_bf16_bits x, uint16_t *y, uint32_t lanes) {
    uint16_t bits[GV_BF16_LANES];
    gv_bf16_store(bits, x);
    for (; lanes; lanes &= lanes - 1) {
        int k = __builtin_ctz(lanes);
        y[k] = t[bits[k]];
    }
}

/* y of n inputs, a multiple of 64; the number of groups of which some were looked up one by one. t: the table of
   results */
GV_INLINE size_t gv_bf16_array(const gv_bf16_table *f, int derivative, const uint16_t *t, const uint16_t *x,
                               uint16_t *y, size_t n) {
    size_t open_groups = 0;
    for (size_t i = 0; i < n; i += GV_CR_BF16_GROUP) {
        gv_bf16_bits bits = gv_bf16_load(x + i);
        uint32_t open = gv_bf16_piece(f, derivative, bits, y + i);
        for (int k = 32; k < GV_CR_BF16_GROUP; k += 8)
            _mm_storeu_si128((__m128i *)(y + i + k), gv_look_up_eight(t, x + i + k));
        if (__builtin_expect(open != 0, 0)) {
            open &= ~gv_bf16_zeros(bits);
            open_groups += open != 0;
            gv_bf16_look_up_lanes(t, bits, y + i, open);
        }
    }
    return open_groups;
}
#endif

#endif
