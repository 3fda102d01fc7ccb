/* Float32 lanes: 16 with AVX-512, 8 with AVX2, 4 with NEON, or one, which is what the proofs read and a model to test the
   others with. The same IEEE operations in all four. */
#ifndef GV_CR_FLOAT_LANES_H
#define GV_CR_FLOAT_LANES_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "../truth/dd.h"
#include "float_tables.h"

#if GV_FLOAT_LANES == 16

typedef __m512 gv_floats;
typedef __m512i gv_floats_place; /* its last five bits count */

GV_INLINE gv_floats gv_floats_all(float a) { return _mm512_set1_ps(a); }
GV_INLINE gv_floats gv_floats_load(const float *p) { return _mm512_loadu_ps(p); }
GV_INLINE gv_floats gv_floats_add(gv_floats a, gv_floats b) { return _mm512_add_ps(a, b); }
GV_INLINE gv_floats gv_floats_sub(gv_floats a, gv_floats b) { return _mm512_sub_ps(a, b); }
GV_INLINE gv_floats gv_floats_mul(gv_floats a, gv_floats b) { return _mm512_mul_ps(a, b); }
GV_INLINE gv_floats gv_floats_over(gv_floats a, gv_floats b) { return _mm512_div_ps(a, b); }
GV_INLINE void gv_floats_store(float *p, gv_floats a) { _mm512_storeu_ps(p, a); }
/* a b + c, a b - c and c - a b, rounded once */
GV_INLINE gv_floats gv_floats_madd(gv_floats a, gv_floats b, gv_floats c) { return _mm512_fmadd_ps(a, b, c); }
GV_INLINE gv_floats gv_floats_msub(gv_floats a, gv_floats b, gv_floats c) { return _mm512_fmsub_ps(a, b, c); }
GV_INLINE gv_floats gv_floats_less(gv_floats a, gv_floats b, gv_floats c) { return _mm512_fnmadd_ps(a, b, c); }
GV_INLINE gv_floats gv_floats_madd_all(gv_floats a, float b, float c) {
    return _mm512_fmadd_ps(a, _mm512_set1_ps(b), _mm512_set1_ps(c));
}
GV_INLINE gv_floats gv_floats_magnitude(gv_floats a) { return _mm512_abs_ps(a); }
/* the smaller; NaN stays */
GV_INLINE gv_floats gv_floats_at_most(gv_floats a, float b) { return _mm512_min_ps(_mm512_set1_ps(b), a); }
/* of a NaN any */
GV_INLINE gv_floats gv_floats_larger(gv_floats a, gv_floats b) { return _mm512_max_ps(a, b); }
GV_INLINE gv_floats gv_floats_smaller(gv_floats a, gv_floats b) { return _mm512_min_ps(a, b); }
/* from -b to b; of a NaN any */
GV_INLINE gv_floats gv_floats_clamped(gv_floats a, float b) {
    return _mm512_range_ps(a, _mm512_set1_ps(b), 2); /* the one of less magnitude, with the sign of a */
}
/* max(a, 0); NaN stays */
GV_INLINE gv_floats gv_floats_not_negative(gv_floats a) { return _mm512_max_ps(_mm512_setzero_ps(), a); }
/* 0 where the sign bit is set, else b */
GV_INLINE gv_floats gv_floats_step(gv_floats a, gv_floats b) {
    return _mm512_mask_mov_ps(b, _mm512_movepi32_mask(_mm512_castps_si512(a)), _mm512_setzero_ps());
}
/* a with the sign bit of x flipped in */
GV_INLINE gv_floats gv_floats_times_sign(gv_floats a, gv_floats x) {
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(a), _mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN), 0x78));
}
/* bit i: a and b are not equal in lane i */
GV_INLINE uint32_t gv_floats_differ(gv_floats a, gv_floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
/* t[k], k the last GV_EXP_BITS bits of `steps` */
GV_INLINE gv_floats gv_floats_of_steps(const float *t, gv_floats steps) {
    return _mm512_permutexvar_ps(_mm512_castps_si512(steps), _mm512_load_ps(t));
}
/* the bits of a, and those of steps shifted added: times 2 for each 2^GV_EXP_BITS in steps, as the table has it */
GV_INLINE gv_floats gv_floats_scaled(gv_floats a, gv_floats steps) {
    return _mm512_castsi512_ps(
        _mm512_add_epi32(_mm512_castps_si512(a), _mm512_slli_epi32(_mm512_castps_si512(steps), 23 - GV_EXP_BITS)));
}
/* y where x <= zero: -0; where x >= whole: x, of a derivative 1; where x = 0: x, of a derivative 1/2. Bit i: lane i is one
   of them. */
GV_INLINE uint32_t gv_floats_settle(float *y, gv_floats x, int derivative, float zero, float whole) {
    __mmask16 below = _mm512_cmp_ps_mask(x, _mm512_set1_ps(zero), _CMP_LE_OQ);
    __mmask16 above = _mm512_cmp_ps_mask(x, _mm512_set1_ps(whole), _CMP_GE_OQ);
    __mmask16 none = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ);
    __m512 result = derivative ? _mm512_mask_mov_ps(_mm512_set1_ps(1.0f), none, _mm512_set1_ps(0.5f)) : x;
    _mm512_mask_storeu_ps(y, below | above | none, _mm512_mask_mov_ps(result, below, _mm512_set1_ps(-0.0f)));
    return (uint32_t)(below | above | none);
}
GV_INLINE gv_floats_place gv_floats_find(gv_floats step, int shift) {
    __m512i bits = _mm512_castps_si512(step);
    return shift ? _mm512_srli_epi32(bits, (unsigned)shift) : bits;
}
/* Stores 2^-64 a, normal; where x <= zero, -0. Bit i: not so, and a and b are not equal in lane i. */
GV_INLINE uint32_t gv_floats_store_above(float *p, gv_floats x, float zero, gv_floats a, gv_floats b) {
    __mmask16 above = _mm512_cmp_ps_mask(x, _mm512_set1_ps(zero), _CMP_NLE_UQ);
    __m512i y = _mm512_sub_epi32(_mm512_castps_si512(a), _mm512_set1_epi32(64 << 23));
    _mm512_storeu_si512(p, _mm512_mask_mov_epi32(_mm512_set1_epi32(INT32_MIN), above, y));
    return _mm512_mask_cmp_ps_mask(above, a, b, _CMP_NEQ_UQ);
}
GV_INLINE gv_floats gv_floats_column(const gv_float_table *f, int column, gv_floats_place at) {
    __m512 low = _mm512_load_ps(f->column[column]), high = _mm512_load_ps(f->column[column] + 16);
    return _mm512_permutex2var_ps(low, at, high);
}

#elif GV_FLOAT_LANES == 8
#include "../tables/lane_orders.h"

typedef __m256 gv_floats;
typedef struct { __m256 column[GV_FLOAT_COLUMNS]; } gv_floats_place;

GV_INLINE gv_floats gv_floats_all(float a) { return _mm256_set1_ps(a); }
GV_INLINE gv_floats gv_floats_load(const float *p) { return _mm256_loadu_ps(p); }
GV_INLINE gv_floats gv_floats_add(gv_floats a, gv_floats b) { return _mm256_add_ps(a, b); }
GV_INLINE gv_floats gv_floats_sub(gv_floats a, gv_floats b) { return _mm256_sub_ps(a, b); }
GV_INLINE gv_floats gv_floats_mul(gv_floats a, gv_floats b) { return _mm256_mul_ps(a, b); }
GV_INLINE gv_floats gv_floats_over(gv_floats a, gv_floats b) { return _mm256_div_ps(a, b); }
GV_INLINE void gv_floats_store(float *p, gv_floats a) { _mm256_storeu_ps(p, a); }
GV_INLINE gv_floats gv_floats_madd(gv_floats a, gv_floats b, gv_floats c) { return _mm256_fmadd_ps(a, b, c); }
GV_INLINE gv_floats gv_floats_msub(gv_floats a, gv_floats b, gv_floats c) { return _mm256_fmsub_ps(a, b, c); }
GV_INLINE gv_floats gv_floats_less(gv_floats a, gv_floats b, gv_floats c) { return _mm256_fnmadd_ps(a, b, c); }
GV_INLINE gv_floats gv_floats_madd_all(gv_floats a, float b, float c) {
    return _mm256_fmadd_ps(a, _mm256_set1_ps(b), _mm256_set1_ps(c));
}
GV_INLINE gv_floats gv_floats_magnitude(gv_floats a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
GV_INLINE gv_floats gv_floats_at_most(gv_floats a, float b) { return _mm256_min_ps(_mm256_set1_ps(b), a); }
GV_INLINE gv_floats gv_floats_larger(gv_floats a, gv_floats b) { return _mm256_max_ps(a, b); }
GV_INLINE gv_floats gv_floats_smaller(gv_floats a, gv_floats b) { return _mm256_min_ps(a, b); }
GV_INLINE gv_floats gv_floats_clamped(gv_floats a, float b) {
    return _mm256_max_ps(_mm256_set1_ps(-b), _mm256_min_ps(_mm256_set1_ps(b), a));
}
GV_INLINE gv_floats gv_floats_not_negative(gv_floats a) { return _mm256_max_ps(_mm256_setzero_ps(), a); }
GV_INLINE gv_floats gv_floats_step(gv_floats a, gv_floats b) { return _mm256_blendv_ps(b, _mm256_setzero_ps(), a); }
GV_INLINE gv_floats gv_floats_times_sign(gv_floats a, gv_floats x) {
    return _mm256_xor_ps(a, _mm256_and_ps(x, _mm256_set1_ps(-0.0f)));
}
GV_INLINE uint32_t gv_floats_differ(gv_floats a, gv_floats b) {
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_NEQ_UQ));
}
GV_INLINE uint32_t gv_floats_store_above(float *p, gv_floats x, float zero, gv_floats a, gv_floats b) {
    __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(zero), _CMP_NLE_UQ);
    __m256i y = _mm256_sub_epi32(_mm256_castps_si256(a), _mm256_set1_epi32(64 << 23));
    _mm256_storeu_ps(p, _mm256_blendv_ps(_mm256_set1_ps(-0.0f), _mm256_castsi256_ps(y), above));
    return (uint32_t)_mm256_movemask_ps(_mm256_and_ps(above, _mm256_cmp_ps(a, b, _CMP_NEQ_UQ)));
}
/* In `near` lanes with edge < x < whole or NaN, in `far` those with zero < x <= edge */
GV_INLINE void gv_floats_sort(gv_floats x, float zero, float edge, float whole, uint32_t *near, uint32_t *far) {
    __m256 low = _mm256_cmp_ps(x, _mm256_set1_ps(edge), _CMP_LE_OQ);
    __m256 below = _mm256_cmp_ps(x, _mm256_set1_ps(zero), _CMP_LE_OQ);
    __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(whole), _CMP_GE_OQ);
    *near = 255u ^ (uint32_t)_mm256_movemask_ps(_mm256_or_ps(low, above));
    *far = (uint32_t)_mm256_movemask_ps(_mm256_andnot_ps(below, low));
}
/* -0 where the sign bit is set, else x, in a derivative 1 */
GV_INLINE gv_floats gv_floats_limit(gv_floats x, int derivative) {
    return _mm256_blendv_ps(derivative ? _mm256_set1_ps(1.0f) : x, _mm256_set1_ps(-0.0f), x);
}
GV_INLINE __m256i gv_floats_order(uint64_t order) { return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order)); }
/* The `lanes` of x, one after the other, and up to a register more */
GV_INLINE void gv_floats_compress(float *to, gv_floats x, uint32_t lanes) {
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(x, gv_floats_order(gv_compress_order[lanes])));
}
/* The other way round: `from` into the `lanes` of y, the others stay; up to a register more is read */
GV_INLINE gv_floats gv_floats_expand(gv_floats y, const float *from, uint32_t lanes) {
    __m256i order = gv_floats_order(gv_expand_order[lanes]);
    __m256 stays = _mm256_castsi256_ps(_mm256_slli_epi32(order, 24)); /* the sign bit of a byte */
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(from), order), y, stays);
}
GV_INLINE gv_floats gv_floats_of_steps(const float *t, gv_floats steps) {
    return _mm256_permutevar8x32_ps(_mm256_load_ps(t), _mm256_castps_si256(steps));
}
GV_INLINE gv_floats gv_floats_scaled(gv_floats a, gv_floats steps) {
    return _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(a), _mm256_slli_epi32(_mm256_castps_si256(steps), 23 - GV_EXP_BITS)));
}
GV_INLINE uint32_t gv_floats_settle(float *y, gv_floats x, int derivative, float zero, float whole) {
    __m256 below = _mm256_cmp_ps(x, _mm256_set1_ps(zero), _CMP_LE_OQ);
    __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(whole), _CMP_GE_OQ);
    __m256 none = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ);
    __m256 result = _mm256_blendv_ps(_mm256_loadu_ps(y), _mm256_set1_ps(-0.0f), below);
    result = _mm256_blendv_ps(result, derivative ? _mm256_set1_ps(1.0f) : x, above);
    _mm256_storeu_ps(y, _mm256_blendv_ps(result, derivative ? _mm256_set1_ps(0.5f) : x, none));
    return (uint32_t)_mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(below, above), none));
}
/* Four columns of eight rows: a transposition in halves of registers */
GV_INLINE void gv_floats_columns(const float *const *rows, __m256 *column) {
    __m256 r[4];
    GV_UNROLL
    for (int i = 0; i < 4; i++)
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(rows[i])), _mm_load_ps(rows[i + 4]), 1);
    __m256d low01 = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1]));
    __m256d low23 = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3]));
    __m256d high01 = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1]));
    __m256d high23 = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
    column[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(low01, low23));
    column[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low01, low23));
    column[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high01, high23));
    column[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high01, high23));
}
/* Where in the table, in bytes, the rows of eight x are; of a NaN, any */
GV_INLINE void gv_floats_store_offsets(const gv_float_table *f, const float *x, uint32_t *offset) {
    gv_floats a = _mm256_min_ps(gv_floats_magnitude(gv_floats_load(x)), _mm256_set1_ps(f->last));
    __m256i step = _mm256_castps_si256(gv_floats_madd_all(a, f->inverse, f->from));
    step = f->shift < 5 ? _mm256_slli_epi32(step, 5 - f->shift) : _mm256_srli_epi32(step, f->shift - 5);
    _mm256_storeu_si256((__m256i *)offset, _mm256_and_si256(step, _mm256_set1_epi32((GV_FLOAT_PIECES - 1) << 5)));
}
/* 16 n of 3/2 2^k + n */
GV_INLINE void gv_floats_store_sixteen_times(uint32_t *offset, gv_floats sum) {
    _mm256_storeu_si256((__m256i *)offset, _mm256_srli_epi32(_mm256_slli_epi32(_mm256_castps_si256(sum), 10), 6));
}
/* of a magnitude the smaller; of a NaN b */
GV_INLINE gv_floats gv_floats_up_to(gv_floats a, float b) { return _mm256_min_ps(a, _mm256_set1_ps(b)); }
/* The last 16 bits of a as the first of a float */
GV_INLINE gv_floats gv_floats_last_half(gv_floats a) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 16));
}

#elif GV_FLOAT_LANES == 4
#include "../tables/lane_orders.h"

typedef float32x4_t gv_floats;
typedef struct { float32x4_t column[GV_FLOAT_COLUMNS]; } gv_floats_place;

GV_INLINE gv_floats gv_floats_all(float a) { return vdupq_n_f32(a); }
GV_INLINE gv_floats gv_floats_load(const float *p) { return vld1q_f32(p); }
GV_INLINE gv_floats gv_floats_add(gv_floats a, gv_floats b) { return vaddq_f32(a, b); }
GV_INLINE gv_floats gv_floats_sub(gv_floats a, gv_floats b) { return vsubq_f32(a, b); }
GV_INLINE gv_floats gv_floats_mul(gv_floats a, gv_floats b) { return vmulq_f32(a, b); }
GV_INLINE gv_floats gv_floats_over(gv_floats a, gv_floats b) { return vdivq_f32(a, b); }
GV_INLINE void gv_floats_store(float *p, gv_floats a) { vst1q_f32(p, a); }
GV_INLINE gv_floats gv_floats_madd(gv_floats a, gv_floats b, gv_floats c) { return vfmaq_f32(c, a, b); }
GV_INLINE gv_floats gv_floats_msub(gv_floats a, gv_floats b, gv_floats c) { return vfmaq_f32(vnegq_f32(c), a, b); }
GV_INLINE gv_floats gv_floats_less(gv_floats a, gv_floats b, gv_floats c) { return vfmsq_f32(c, a, b); }
GV_INLINE gv_floats gv_floats_madd_all(gv_floats a, float b, float c) {
    return vfmaq_f32(vdupq_n_f32(c), a, vdupq_n_f32(b));
}
GV_INLINE gv_floats gv_floats_magnitude(gv_floats a) { return vabsq_f32(a); }
GV_INLINE gv_floats gv_floats_at_most(gv_floats a, float b) { return vminq_f32(a, vdupq_n_f32(b)); }
GV_INLINE gv_floats gv_floats_larger(gv_floats a, gv_floats b) { return vmaxq_f32(a, b); }
GV_INLINE gv_floats gv_floats_smaller(gv_floats a, gv_floats b) { return vminq_f32(a, b); }
GV_INLINE gv_floats gv_floats_clamped(gv_floats a, float b) {
    return vmaxq_f32(vminq_f32(a, vdupq_n_f32(b)), vdupq_n_f32(-b));
}
GV_INLINE gv_floats gv_floats_not_negative(gv_floats a) { return vmaxq_f32(a, vdupq_n_f32(0.0f)); }
/* all bits where the sign bit is set */
GV_INLINE uint32x4_t gv_floats_negative(gv_floats a) { return vcltzq_s32(vreinterpretq_s32_f32(a)); }
GV_INLINE gv_floats gv_floats_step(gv_floats a, gv_floats b) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(b), gv_floats_negative(a)));
}
GV_INLINE gv_floats gv_floats_times_sign(gv_floats a, gv_floats x) {
    uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(0x80000000u));
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), sign));
}
/* bit i: lane i is set, or is not */
GV_INLINE uint32_t gv_floats_set(uint32x4_t lanes) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(bits, lanes));
}
GV_INLINE uint32_t gv_floats_not_set(uint32x4_t lanes) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vbicq_u32(bits, lanes));
}
GV_INLINE uint32_t gv_floats_differ(gv_floats a, gv_floats b) { return gv_floats_not_set(vceqq_f32(a, b)); }
GV_INLINE uint32_t gv_floats_store_above(float *p, gv_floats x, float zero, gv_floats a, gv_floats b) {
    uint32x4_t below = vcleq_f32(x, vdupq_n_f32(zero));
    uint32x4_t y = vsubq_u32(vreinterpretq_u32_f32(a), vdupq_n_u32(64u << 23));
    vst1q_f32(p, vbslq_f32(below, vdupq_n_f32(-0.0f), vreinterpretq_f32_u32(y)));
    return gv_floats_not_set(vorrq_u32(below, vceqq_f32(a, b)));
}
GV_INLINE void gv_floats_sort(gv_floats x, float zero, float edge, float whole, uint32_t *near, uint32_t *far) {
    uint32x4_t low = vcleq_f32(x, vdupq_n_f32(edge)), below = vcleq_f32(x, vdupq_n_f32(zero));
    uint32x4_t above = vcgeq_f32(x, vdupq_n_f32(whole));
    *near = gv_floats_not_set(vorrq_u32(low, above));
    *far = gv_floats_set(vbicq_u32(low, below));
}
GV_INLINE gv_floats gv_floats_limit(gv_floats x, int derivative) {
    return vbslq_f32(gv_floats_negative(x), vdupq_n_f32(-0.0f), derivative ? vdupq_n_f32(1.0f) : x);
}
GV_INLINE void gv_floats_compress(float *to, gv_floats x, uint32_t lanes) {
    vst1q_u8((uint8_t *)to, vqtbl1q_u8(vreinterpretq_u8_f32(x), vld1q_u8(gv_compress_bytes[lanes])));
}
GV_INLINE gv_floats gv_floats_expand(gv_floats y, const float *from, uint32_t lanes) {
    uint8x16_t bytes = vreinterpretq_u8_f32(vld1q_f32(from)), order = vld1q_u8(gv_expand_bytes[lanes]);
    return vreinterpretq_f32_u8(vqtbx1q_u8(vreinterpretq_u8_f32(y), bytes, order)); /* 0x80: y stays */
}
GV_INLINE gv_floats gv_floats_of_steps(const float *t, gv_floats steps) {
    uint32x4_t k = vandq_u32(vreinterpretq_u32_f32(steps), vdupq_n_u32((1 << GV_EXP_BITS) - 1));
    uint32x4_t bytes = vmlaq_u32(vdupq_n_u32(0x03020100u), k, vdupq_n_u32(0x04040404u)); /* 4 k + 3, ..., 4 k */
    uint8x16x2_t table = {{vld1q_u8((const uint8_t *)t), vld1q_u8((const uint8_t *)(t + 4))}};
    return vreinterpretq_f32_u8(vqtbl2q_u8(table, vreinterpretq_u8_u32(bytes)));
}
GV_INLINE gv_floats gv_floats_scaled(gv_floats a, gv_floats steps) {
    uint32x4_t shifted = vshlq_n_u32(vreinterpretq_u32_f32(steps), 23 - GV_EXP_BITS);
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a), shifted));
}
GV_INLINE uint32_t gv_floats_settle(float *y, gv_floats x, int derivative, float zero, float whole) {
    uint32x4_t below = vcleq_f32(x, vdupq_n_f32(zero)), above = vcgeq_f32(x, vdupq_n_f32(whole));
    uint32x4_t none = vceqzq_f32(x);
    gv_floats result = vbslq_f32(below, vdupq_n_f32(-0.0f), vld1q_f32(y));
    result = vbslq_f32(above, derivative ? vdupq_n_f32(1.0f) : x, result);
    vst1q_f32(y, vbslq_f32(none, derivative ? vdupq_n_f32(0.5f) : x, result));
    return gv_floats_set(vorrq_u32(vorrq_u32(below, above), none));
}
/* Four columns of four rows: a transposition */
GV_INLINE void gv_floats_columns(const float *const *rows, float32x4_t *column) {
    float32x4_t r0 = vld1q_f32(rows[0]), r1 = vld1q_f32(rows[1]), r2 = vld1q_f32(rows[2]), r3 = vld1q_f32(rows[3]);
    float64x2_t low01 = vreinterpretq_f64_f32(vzip1q_f32(r0, r1)), low23 = vreinterpretq_f64_f32(vzip1q_f32(r2, r3));
    float64x2_t high01 = vreinterpretq_f64_f32(vzip2q_f32(r0, r1)), high23 = vreinterpretq_f64_f32(vzip2q_f32(r2, r3));
    column[0] = vreinterpretq_f32_f64(vzip1q_f64(low01, low23));
    column[1] = vreinterpretq_f32_f64(vzip2q_f64(low01, low23));
    column[2] = vreinterpretq_f32_f64(vzip1q_f64(high01, high23));
    column[3] = vreinterpretq_f32_f64(vzip2q_f64(high01, high23));
}
GV_INLINE void gv_floats_store_offsets(const gv_float_table *f, const float *x, uint32_t *offset) {
    gv_floats a = gv_floats_at_most(gv_floats_magnitude(gv_floats_load(x)), f->last);
    uint32x4_t step = vreinterpretq_u32_f32(gv_floats_madd_all(a, f->inverse, f->from));
    step = vshlq_u32(step, vdupq_n_s32(5 - f->shift)); /* to the right, if that is negative */
    vst1q_u32(offset, vandq_u32(step, vdupq_n_u32((GV_FLOAT_PIECES - 1) << 5)));
}
GV_INLINE void gv_floats_store_sixteen_times(uint32_t *offset, gv_floats sum) {
    vst1q_u32(offset, vshrq_n_u32(vshlq_n_u32(vreinterpretq_u32_f32(sum), 10), 6));
}
GV_INLINE gv_floats gv_floats_up_to(gv_floats a, float b) { /* of integers, so that a NaN is more */
    return vreinterpretq_f32_u32(vminq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(vdupq_n_f32(b))));
}
GV_INLINE gv_floats gv_floats_last_half(gv_floats a) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), 16));
}

#else

typedef float gv_floats;
typedef int gv_floats_place;

GV_INLINE gv_floats gv_floats_all(float a) { return a; }
GV_INLINE gv_floats gv_floats_load(const float *p) { return *p; }
GV_INLINE gv_floats gv_floats_add(gv_floats a, gv_floats b) { return a + b; }
GV_INLINE gv_floats gv_floats_sub(gv_floats a, gv_floats b) { return a - b; }
GV_INLINE gv_floats gv_floats_mul(gv_floats a, gv_floats b) { return a * b; }
GV_INLINE gv_floats gv_floats_over(gv_floats a, gv_floats b) { return a / b; }
GV_INLINE void gv_floats_store(float *p, gv_floats a) { *p = a; }
GV_INLINE gv_floats gv_floats_madd(gv_floats a, gv_floats b, gv_floats c) { return fmaf(a, b, c); }
GV_INLINE gv_floats gv_floats_msub(gv_floats a, gv_floats b, gv_floats c) { return fmaf(a, b, -c); }
GV_INLINE gv_floats gv_floats_less(gv_floats a, gv_floats b, gv_floats c) { return fmaf(-a, b, c); }
GV_INLINE gv_floats gv_floats_madd_all(gv_floats a, float b, float c) { return fmaf(a, b, c); }
GV_INLINE gv_floats gv_floats_magnitude(gv_floats a) { return fabsf(a); }
GV_INLINE gv_floats gv_floats_at_most(gv_floats a, float b) { return b < a ? b : a; }
GV_INLINE gv_floats gv_floats_larger(gv_floats a, gv_floats b) { return a > b ? a : b; }
GV_INLINE gv_floats gv_floats_smaller(gv_floats a, gv_floats b) { return a < b ? a : b; }
GV_INLINE gv_floats gv_floats_clamped(gv_floats a, float b) { return a > b ? b : a > -b ? a : -b; }
GV_INLINE gv_floats gv_floats_not_negative(gv_floats a) { return a < 0.0f ? 0.0f : a; }
GV_INLINE gv_floats gv_floats_step(gv_floats a, gv_floats b) { return signbit(a) ? 0.0f : b; }
GV_INLINE gv_floats gv_floats_times_sign(gv_floats a, gv_floats x) { return signbit(x) ? -a : a; }
GV_INLINE uint32_t gv_floats_differ(gv_floats a, gv_floats b) { return !(a == b); }
GV_INLINE uint32_t gv_float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
GV_INLINE uint32_t gv_floats_store_above(float *p, gv_floats x, float zero, gv_floats a, gv_floats b) {
    uint32_t y = gv_float_bits(a) - (64u << 23);
    if (x <= zero) y = UINT32_C(1) << 31;
    memcpy(p, &y, sizeof y);
    return !(x <= zero) && !(a == b);
}
GV_INLINE gv_floats gv_floats_of_steps(const float *t, gv_floats steps) {
    return t[gv_float_bits(steps) & ((1 << GV_EXP_BITS) - 1)];
}
GV_INLINE gv_floats gv_floats_scaled(gv_floats a, gv_floats steps) {
    uint32_t bits = gv_float_bits(a) + (gv_float_bits(steps) << (23 - GV_EXP_BITS));
    memcpy(&a, &bits, sizeof a);
    return a;
}
GV_INLINE uint32_t gv_floats_settle(float *y, gv_floats x, int derivative, float zero, float whole) {
    int below = x <= zero, above = x >= whole, none = x == 0.0f;
    *y = below ? -0.0f : !(above | none) ? *y : !derivative ? x : none ? 0.5f : 1.0f;
    return (uint32_t)(below | above | none);
}
#if GV_FLOAT_TABLES == GV_ROWS
GV_INLINE void gv_floats_store_sixteen_times(uint32_t *offset, gv_floats sum) {
    *offset = gv_float_bits(sum) << 10 >> 6;
}
GV_INLINE gv_floats gv_floats_up_to(gv_floats a, float b) { return a < b ? a : b; }
GV_INLINE gv_floats gv_floats_last_half(gv_floats a) {
    uint32_t bits = gv_float_bits(a) << 16;
    memcpy(&a, &bits, sizeof a);
    return a;
}
GV_INLINE void gv_floats_columns_at(const void *table, const uint32_t *offset, gv_floats *column) {
    memcpy(column, (const char *)table + *offset, 4 * sizeof *column);
}
#endif
GV_INLINE gv_floats_place gv_floats_find(gv_floats step, int shift) {
    return (int)(gv_float_bits(step) >> shift & (GV_FLOAT_PIECES - 1));
}
GV_INLINE gv_floats gv_floats_column(const gv_float_table *f, int column, gv_floats_place at) {
#if GV_FLOAT_TABLES == GV_REGISTERS
    return f->column[column][at];
#else
    return f->rows[at].c[column];
#endif
}

#endif

#if GV_FLOAT_LANES == 8 || GV_FLOAT_LANES == 4
/* Four columns of the rows at `offset` */
GV_INLINE void gv_floats_columns_at(const void *table, const uint32_t *offset, gv_floats *column) {
    const float *rows[GV_FLOAT_LANES];
    GV_UNROLL
    for (int i = 0; i < GV_FLOAT_LANES; i++) rows[i] = (const float *)((const char *)table + offset[i]);
    gv_floats_columns(rows, column);
}
GV_INLINE gv_floats_place gv_floats_find_rows(const gv_float_table *f, const uint32_t *offset) {
    gv_floats_place at;
    gv_floats_columns_at(f->rows, offset, at.column);
    gv_floats_columns_at(f->rows->c + 4, offset, at.column + 4);
    return at;
}
GV_INLINE gv_floats gv_floats_column(const gv_float_table *f, int column, gv_floats_place at) {
    (void)f;
    return at.column[column];
}
#endif

typedef struct { gv_floats hi, lo; } gv_floats_pair;

/* Stores a; bit i: a and b are not equal in lane i */
GV_INLINE uint32_t gv_floats_store_and_compare(float *p, gv_floats a, gv_floats b) {
    gv_floats_store(p, a);
    return gv_floats_differ(a, b);
}

#endif
