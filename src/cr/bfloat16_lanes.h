/* bfloat16 numbers and the same as float32: 32 in registers of AVX-512, the even ones beside the odd ones, or one,
   which is a model to test the others with. The same IEEE operations in both. */
#ifndef GV_CR_BFLOAT16_LANES_H
#define GV_CR_BFLOAT16_LANES_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "../truth/dd.h"
#include "bfloat16_tables.h"

#if GV_BF16_LANES == 32

typedef __m512i gv_bf16_bits;
typedef __m512 gv_bf16_floats; /* 16 of them as floats */
typedef __m512i gv_bf16_place; /* its last five bits count */

GV_INLINE gv_bf16_bits gv_bf16_load(const uint16_t *x) { return _mm512_loadu_si512(x); }
GV_INLINE void gv_bf16_store(uint16_t *y, gv_bf16_bits v) { _mm512_storeu_si512(y, v); }
GV_INLINE gv_bf16_floats gv_bf16_even(gv_bf16_bits x) { return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)); }
GV_INLINE gv_bf16_floats gv_bf16_odd(gv_bf16_bits x) {
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32((int)0xffff0000u)));
}
/* Rounded to nearest; the ones halfway, which no result is, away from zero */
GV_INLINE gv_bf16_bits gv_bf16_rounded(gv_bf16_floats even, gv_bf16_floats odd) {
    __m512i half = _mm512_set1_epi32(0x8000);
    __m512i e = _mm512_srli_epi32(_mm512_add_epi32(_mm512_castps_si512(even), half), 16);
    return _mm512_mask_blend_epi16(0xaaaaaaaau, e, _mm512_add_epi32(_mm512_castps_si512(odd), half));
}
/* Bit i: the bits of lane i less `first`, modulo 2^16, are below `positive`, or from 2^15 on and below `negative` */
GV_INLINE uint32_t gv_bf16_below(gv_bf16_bits x, uint16_t first, uint16_t positive, uint16_t negative) {
    __m512i from_first = _mm512_sub_epi16(x, _mm512_set1_epi16((short)first));
    return _mm512_cmplt_epu16_mask(from_first, _mm512_set1_epi16((short)positive)) |
           _mm512_cmplt_epi16_mask(from_first, _mm512_set1_epi16((short)negative));
}
GV_INLINE uint32_t gv_bf16_zeros(gv_bf16_bits x) { return _mm512_testn_epi16_mask(x, _mm512_set1_epi16(0x7fff)); }

/* min(|x|, b) */
GV_INLINE gv_bf16_floats gv_bf16_clamped(gv_bf16_floats x, float b) {
    return _mm512_range_ps(x, _mm512_set1_ps(b), 10);
}
GV_INLINE gv_bf16_floats gv_bf16_madd(gv_bf16_floats a, gv_bf16_floats b, gv_bf16_floats c) {
    return _mm512_fmadd_ps(a, b, c);
}
GV_INLINE gv_bf16_floats gv_bf16_madd_all(gv_bf16_floats a, float b, float c) {
    return _mm512_fmadd_ps(a, _mm512_set1_ps(b), _mm512_set1_ps(c));
}
GV_INLINE gv_bf16_floats gv_bf16_less(gv_bf16_floats a, gv_bf16_floats b, gv_bf16_floats c) {
    return _mm512_fnmadd_ps(a, b, c);
}
GV_INLINE gv_bf16_floats gv_bf16_sub(gv_bf16_floats a, gv_bf16_floats b) { return _mm512_sub_ps(a, b); }
/* max(x, 0); -0 stays */
GV_INLINE gv_bf16_floats gv_bf16_not_negative(gv_bf16_floats x) { return _mm512_max_ps(_mm512_setzero_ps(), x); }
/* v where the sign bit of x is set, else 1 - v */
GV_INLINE gv_bf16_floats gv_bf16_or_rest(gv_bf16_floats v, gv_bf16_floats x) {
    __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
    return _mm512_mask_sub_ps(v, (__mmask16)~negative, _mm512_set1_ps(1.0f), v);
}
GV_INLINE gv_bf16_place gv_bf16_find(gv_bf16_floats step) { return _mm512_castps_si512(step); }
GV_INLINE gv_bf16_floats gv_bf16_column(const gv_bf16_table *f, int column, gv_bf16_place at) {
    return _mm512_permutex2var_ps(_mm512_load_ps(f->column[column]), at, _mm512_load_ps(f->column[column] + 16));
}

#else

typedef uint16_t gv_bf16_bits;
typedef float gv_bf16_floats;
typedef int gv_bf16_place;

GV_INLINE gv_bf16_bits gv_bf16_load(const uint16_t *x) { return *x; }
GV_INLINE void gv_bf16_store(uint16_t *y, gv_bf16_bits v) { *y = v; }
GV_INLINE gv_bf16_floats gv_bf16_even(gv_bf16_bits x) {
    uint32_t bits = (uint32_t)x << 16;
    gv_bf16_floats wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}
GV_INLINE gv_bf16_floats gv_bf16_odd(gv_bf16_bits x) { return gv_bf16_even(x); }
GV_INLINE gv_bf16_bits gv_bf16_rounded(gv_bf16_floats even, gv_bf16_floats odd) {
    uint32_t bits;
    (void)odd;
    memcpy(&bits, &even, sizeof bits);
    return (gv_bf16_bits)((bits + 0x8000) >> 16);
}
GV_INLINE uint32_t gv_bf16_below(gv_bf16_bits x, uint16_t first, uint16_t positive, uint16_t negative) {
    uint16_t from_first = (uint16_t)(x - first);
    return from_first < positive || (from_first >= 0x8000 && from_first < negative);
}
GV_INLINE uint32_t gv_bf16_zeros(gv_bf16_bits x) { return (x & 0x7fff) == 0; }
GV_INLINE gv_bf16_floats gv_bf16_clamped(gv_bf16_floats x, float b) { return fabsf(x) < b ? fabsf(x) : b; }
GV_INLINE gv_bf16_floats gv_bf16_madd(gv_bf16_floats a, gv_bf16_floats b, gv_bf16_floats c) { return fmaf(a, b, c); }
GV_INLINE gv_bf16_floats gv_bf16_madd_all(gv_bf16_floats a, float b, float c) { return fmaf(a, b, c); }
GV_INLINE gv_bf16_floats gv_bf16_less(gv_bf16_floats a, gv_bf16_floats b, gv_bf16_floats c) { return fmaf(-a, b, c); }
GV_INLINE gv_bf16_floats gv_bf16_sub(gv_bf16_floats a, gv_bf16_floats b) { return a - b; }
GV_INLINE gv_bf16_floats gv_bf16_not_negative(gv_bf16_floats x) { return x < 0.0f ? 0.0f : x; }
GV_INLINE gv_bf16_floats gv_bf16_or_rest(gv_bf16_floats v, gv_bf16_floats x) { return signbit(x) ? v : 1.0f - v; }
GV_INLINE gv_bf16_place gv_bf16_find(gv_bf16_floats step) { return isnan(step) ? 0 : (int)(step - 0x1.8p23f); }
GV_INLINE gv_bf16_floats gv_bf16_column(const gv_bf16_table *f, int column, gv_bf16_place at) {
    return f->column[column][at];
}

#endif

#endif
