/* Eight doubles at a time with AVX-512, four with AVX2 and fma, two with NEON or SSE2, else one: float64.h is written
   once for all, and every lane has the same operations. */
#ifndef GV_CR_LANES_H
#define GV_CR_LANES_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "../truth/dd.h"
#include "pieces.h"

/* i of 3/2 2^52 + i, 0 <= i < 2^32 */
GV_INLINE uint32_t gv_step_row(const double *step) {
    uint64_t bits;
    memcpy(&bits, step, sizeof bits);
    return (uint32_t)bits;
}

#if defined(__GNUC__)
#define GV_LIKELY(condition) __builtin_expect(condition, 1)
#else
#define GV_LIKELY(condition) (condition)
#endif

#ifndef GV_F64_LANES /* the includer may define it: clang's macros follow its command line alone, not its pragmas */
#if GV_HAVE_FMA && defined(__AVX2__) && defined(__FMA__)
#define GV_F64_LANES 4
#elif GV_HAVE_FMA ? defined(__aarch64__) : defined(__SSE2__)
#define GV_F64_LANES 2
#else
#define GV_F64_LANES 1
#endif
#endif

#if GV_F64_LANES != 8 /* else they are in registers */
/* 2^(-j/32), j < 32 */
typedef struct { const gv_dd *table; } gv_lanes_powers;

GV_INLINE gv_lanes_powers gv_lanes_powers_of(const gv_dd *table) {
    gv_lanes_powers powers = {table};
    return powers;
}

#endif

#if GV_F64_LANES == 8
#include <immintrin.h>

typedef __m512d gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return _mm512_set1_pd(a); }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return _mm512_loadu_pd(p); }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { _mm512_storeu_pd(p, a); }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return _mm512_abs_pd(a); }
GV_INLINE gv_lanes gv_lanes_min(gv_lanes a, gv_lanes b) { return _mm512_min_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return _mm512_max_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_at_most(gv_lanes a, gv_lanes b) { return _mm512_min_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return _mm512_fmadd_pd(a, b, c); }
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) {
    return _mm512_mask_mov_pd(b, _mm512_movepi64_mask(_mm512_castpd_si512(x)), a);
}
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) {
    return _mm512_xor_pd(a, _mm512_andnot_pd(x, _mm512_set1_pd(-0.0)));
}
GV_INLINE int gv_lanes_differ(gv_lanes a, gv_lanes b) { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); }
#define gv_lanes_last_bits(a, shift) _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(a), shift))

/* Lanes whose bit in `mask` is set, one after the other in x, and first + their number in `place`; how many. Writes
   GV_F64_LANES of both. */
GV_INLINE size_t gv_lanes_pack(gv_lanes a, int mask, size_t first, double *x, size_t *place) {
    __m512i places = _mm512_add_epi64(_mm512_set1_epi64((long long)first), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    _mm512_storeu_pd(x, _mm512_maskz_compress_pd((__mmask8)mask, a));
    _mm512_storeu_si512(place, _mm512_maskz_compress_epi64((__mmask8)mask, places));
    return (size_t)__builtin_popcount((unsigned)mask);
}

/* 2^(-i/64) = (hi + lo) scale of 3/2 2^52 + i in each lane, 0 <= i < 2^16; table: 2^(j/64) */
GV_INLINE void gv_lanes_exp2(const gv_dd *table, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo, gv_lanes *scale) {
    __m512i i = _mm512_and_si512(_mm512_castpd_si512(shifted), _mm512_set1_epi64(0xffffff));
    __m512i j = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), i), _mm512_set1_epi64(63));
    __m512i n = _mm512_srli_epi64(_mm512_add_epi64(i, j), 6), at = _mm512_add_epi64(j, j);
    *hi = _mm512_i64gather_pd(at, &table->hi, 8);
    *lo = _mm512_i64gather_pd(at, &table->lo, 8);
    *scale = _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_sub_epi64(_mm512_set1_epi64(1023), n), 52));
}

/* 2^(-j/32), j < 32, in registers */
typedef struct { gv_lanes hi[4], lo[4]; } gv_lanes_powers;

GV_INLINE gv_lanes_powers gv_lanes_powers_of(const gv_dd *table) {
    gv_lanes_powers powers;
    __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    for (int k = 0; k < 4; k++) {
        gv_lanes first = _mm512_loadu_pd(&table[8 * k].hi), second = _mm512_loadu_pd(&table[8 * k + 4].hi);
        powers.hi[k] = _mm512_permutex2var_pd(first, even, second);
        powers.lo[k] = _mm512_permutex2var_pd(first, odd, second);
    }
    return powers;
}

GV_INLINE void gv_lanes_power(const gv_lanes_powers *powers, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo) {
    const gv_lanes *p = powers->hi, *q = powers->lo;
    __m512i i = _mm512_castpd_si512(shifted);
    __mmask8 above = _mm512_test_epi64_mask(i, _mm512_set1_epi64(16)); /* the last four bits choose among 16 */
    gv_lanes head =
        _mm512_mask_mov_pd(_mm512_permutex2var_pd(p[0], i, p[1]), above, _mm512_permutex2var_pd(p[2], i, p[3]));
    *lo = _mm512_mask_mov_pd(_mm512_permutex2var_pd(q[0], i, q[1]), above, _mm512_permutex2var_pd(q[2], i, q[3]));
    *hi = _mm512_castsi512_pd(_mm512_sub_epi64(_mm512_castpd_si512(head), _mm512_slli_epi64(i, 47)));
}

/* p and q, four doubles each, one behind the other */
GV_INLINE gv_lanes gv_lanes_halves(const double *p, const double *q) {
    return _mm512_mask_broadcast_f64x4(_mm512_castpd256_pd512(_mm256_load_pd(p)), 0xf0, _mm256_load_pd(q));
}

/* c[k] of the eight rows of `step`: a transposition in quarters of registers, then of quarters */
GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const double *step, gv_lanes *c) {
    const double *p[8];
    for (int i = 0; i < 8; i++) p[i] = pieces[gv_step_row(step + i)].c;
    for (int k = 0; k < GV_COLUMNS; k += 4) {
        gv_lanes r02 = gv_lanes_halves(p[0] + k, p[2] + k), r13 = gv_lanes_halves(p[1] + k, p[3] + k);
        gv_lanes r46 = gv_lanes_halves(p[4] + k, p[6] + k), r57 = gv_lanes_halves(p[5] + k, p[7] + k);
        gv_lanes even03 = _mm512_unpacklo_pd(r02, r13), odd03 = _mm512_unpackhi_pd(r02, r13);
        gv_lanes even47 = _mm512_unpacklo_pd(r46, r57), odd47 = _mm512_unpackhi_pd(r46, r57);
        c[k] = _mm512_shuffle_f64x2(even03, even47, 0x88);
        c[k + 1] = _mm512_shuffle_f64x2(odd03, odd47, 0x88);
        c[k + 2] = _mm512_shuffle_f64x2(even03, even47, 0xdd);
        c[k + 3] = _mm512_shuffle_f64x2(odd03, odd47, 0xdd);
    }
}

#elif GV_F64_LANES == 4
#include <immintrin.h>

typedef __m256d gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return _mm256_set1_pd(a); }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return _mm256_loadu_pd(p); }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { _mm256_storeu_pd(p, a); }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
/* NaN where the second is */
GV_INLINE gv_lanes gv_lanes_min(gv_lanes a, gv_lanes b) { return _mm256_min_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return _mm256_max_pd(a, b); }
/* the smaller; the second where the first is NaN */
GV_INLINE gv_lanes gv_lanes_at_most(gv_lanes a, gv_lanes b) { return _mm256_min_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return _mm256_fmadd_pd(a, b, c); }
/* a where x < 0, else b; -0 either way, but as gv_lanes_against has it */
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) { return _mm256_blendv_pd(b, a, x); }
/* a where x < 0, else -a */
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) {
    return _mm256_xor_pd(a, _mm256_andnot_pd(x, _mm256_set1_pd(-0.0)));
}
/* bit i: a and b are not equal in lane i */
GV_INLINE int gv_lanes_differ(gv_lanes a, gv_lanes b) { return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_NEQ_UQ)); }
/* the last bits of each lane, as the first of a double */
#define gv_lanes_last_bits(a, shift) _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(a), shift))

/* 2^(-i/32) of 3/2 2^52 + i in each lane, -2^16 < i < 2^16, as lo says how the double hi is off it; table: pieces.h */
GV_INLINE void gv_lanes_power(const gv_lanes_powers *powers, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo) {
    __m256i i = _mm256_castpd_si256(shifted);
    double step[4];
    const double *p[4];
    gv_lanes_store(step, shifted);
    for (int k = 0; k < 4; k++) p[k] = &powers->table[gv_step_row(step + k) & 31].hi;
    gv_lanes r02 = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p[0])), _mm_load_pd(p[2]), 1);
    gv_lanes r13 = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p[1])), _mm_load_pd(p[3]), 1);
    gv_lanes head = _mm256_unpacklo_pd(r02, r13);
    *lo = _mm256_unpackhi_pd(r02, r13);
    *hi = _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(head), _mm256_slli_epi64(i, 47)));
}

/* c[k] of the four rows of `step`: two transpositions of 4 by 4 */
GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const double *step, gv_lanes *c) {
    const double *p[4];
    for (int i = 0; i < 4; i++) p[i] = pieces[gv_step_row(step + i)].c;
    for (int k = 0; k < GV_COLUMNS; k += 4) {
        gv_lanes r0 = _mm256_load_pd(p[0] + k), r1 = _mm256_load_pd(p[1] + k);
        gv_lanes r2 = _mm256_load_pd(p[2] + k), r3 = _mm256_load_pd(p[3] + k);
        gv_lanes even01 = _mm256_unpacklo_pd(r0, r1), odd01 = _mm256_unpackhi_pd(r0, r1);
        gv_lanes even23 = _mm256_unpacklo_pd(r2, r3), odd23 = _mm256_unpackhi_pd(r2, r3);
        c[k] = _mm256_permute2f128_pd(even01, even23, 0x20);
        c[k + 1] = _mm256_permute2f128_pd(odd01, odd23, 0x20);
        c[k + 2] = _mm256_permute2f128_pd(even01, even23, 0x31);
        c[k + 3] = _mm256_permute2f128_pd(odd01, odd23, 0x31);
    }
}

#elif GV_F64_LANES == 2 && defined(__aarch64__)
#include <arm_neon.h>

typedef float64x2_t gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return vdupq_n_f64(a); }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return vld1q_f64(p); }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { vst1q_f64(p, a); }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return vabsq_f64(a); }
GV_INLINE gv_lanes gv_lanes_min(gv_lanes a, gv_lanes b) { return vminq_f64(a, b); }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return vmaxq_f64(a, b); }
GV_INLINE gv_lanes gv_lanes_at_most(gv_lanes a, gv_lanes b) { return vbslq_f64(vcltq_f64(a, b), a, b); }
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return vfmaq_f64(c, a, b); }
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) {
    return vbslq_f64(vcltzq_s64(vreinterpretq_s64_f64(x)), a, b);
}
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) {
    uint64x2_t sign = vbicq_u64(vdupq_n_u64(UINT64_C(1) << 63), vreinterpretq_u64_f64(x));
    return vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(a), sign));
}
GV_INLINE int gv_lanes_differ(gv_lanes a, gv_lanes b) {
    const uint64x2_t bits = {1, 2};
    return (int)vaddvq_u64(vbicq_u64(bits, vceqq_f64(a, b)));
}
#define gv_lanes_last_bits(a, shift) vreinterpretq_f64_u64(vshlq_n_u64(vreinterpretq_u64_f64(a), shift))

GV_INLINE void gv_lanes_power(const gv_lanes_powers *powers, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo) {
    uint64x2_t i = vreinterpretq_u64_f64(shifted);
    gv_lanes p = vld1q_f64(&powers->table[vgetq_lane_u64(i, 0) & 31].hi);
    gv_lanes q = vld1q_f64(&powers->table[vgetq_lane_u64(i, 1) & 31].hi);
    *lo = vzip2q_f64(p, q);
    *hi = vreinterpretq_f64_u64(vsubq_u64(vreinterpretq_u64_f64(vzip1q_f64(p, q)), vshlq_n_u64(i, 47)));
}

GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const double *step, gv_lanes *c) {
    const double *p = pieces[gv_step_row(step)].c, *q = pieces[gv_step_row(step + 1)].c;
    for (int k = 0; k < GV_COLUMNS; k += 2) {
        gv_lanes r0 = vld1q_f64(p + k), r1 = vld1q_f64(q + k);
        c[k] = vzip1q_f64(r0, r1);
        c[k + 1] = vzip2q_f64(r0, r1);
    }
}

#elif GV_F64_LANES == 2
#include <emmintrin.h>

typedef __m128d gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return _mm_set1_pd(a); }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return _mm_loadu_pd(p); }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { _mm_storeu_pd(p, a); }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return _mm_andnot_pd(_mm_set1_pd(-0.0), a); }
GV_INLINE gv_lanes gv_lanes_min(gv_lanes a, gv_lanes b) { return _mm_min_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return _mm_max_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_at_most(gv_lanes a, gv_lanes b) { return _mm_min_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return _mm_add_pd(_mm_mul_pd(a, b), c); }
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) {
    gv_lanes below = _mm_cmplt_pd(x, _mm_setzero_pd());
    return _mm_or_pd(_mm_and_pd(below, a), _mm_andnot_pd(below, b));
}
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) {
    return _mm_xor_pd(a, _mm_andnot_pd(_mm_cmplt_pd(x, _mm_setzero_pd()), _mm_set1_pd(-0.0)));
}
GV_INLINE int gv_lanes_differ(gv_lanes a, gv_lanes b) { return _mm_movemask_pd(_mm_cmpneq_pd(a, b)); }
#define gv_lanes_last_bits(a, shift) _mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(a), shift))

GV_INLINE void gv_lanes_power(const gv_lanes_powers *powers, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo) {
    __m128i i = _mm_castpd_si128(shifted);
    double step[2];
    gv_lanes_store(step, shifted);
    gv_lanes p = _mm_load_pd(&powers->table[gv_step_row(step) & 31].hi);
    gv_lanes q = _mm_load_pd(&powers->table[gv_step_row(step + 1) & 31].hi);
    *lo = _mm_unpackhi_pd(p, q);
    *hi = _mm_castsi128_pd(_mm_sub_epi64(_mm_castpd_si128(_mm_unpacklo_pd(p, q)), _mm_slli_epi64(i, 47)));
}

GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const double *step, gv_lanes *c) {
    const double *p = pieces[gv_step_row(step)].c, *q = pieces[gv_step_row(step + 1)].c;
    for (int k = 0; k < GV_COLUMNS; k += 2) {
        gv_lanes r0 = _mm_load_pd(p + k), r1 = _mm_load_pd(q + k);
        c[k] = _mm_unpacklo_pd(r0, r1);
        c[k + 1] = _mm_unpackhi_pd(r0, r1);
    }
}

#else

typedef double gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return a; }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return *p; }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { *p = a; }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return fabs(a); }
GV_INLINE gv_lanes gv_lanes_min(gv_lanes a, gv_lanes b) { return a < b ? a : b; }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return a > b ? a : b; }
GV_INLINE gv_lanes gv_lanes_at_most(gv_lanes a, gv_lanes b) { return a < b ? a : b; }
#if GV_HAVE_FMA
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return fma(a, b, c); }
#else
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return a * b + c; }
#endif
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) { return x < 0.0 ? a : b; }
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) { return x < 0.0 ? a : -a; }
GV_INLINE int gv_lanes_differ(gv_lanes a, gv_lanes b) { return !(a == b); }
GV_INLINE gv_lanes gv_lanes_last_bits(gv_lanes a, int shift) { return gv_last_bits(a, shift); }
GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const double *step, gv_lanes *c) {
    const gv_piece *row = &pieces[gv_step_row(step)];
    for (int k = 0; k < GV_COLUMNS; k++) c[k] = row->c[k];
}

GV_INLINE void gv_lanes_power(const gv_lanes_powers *powers, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo) {
    uint32_t i = gv_step_row(&shifted);
    uint64_t bits;
    memcpy(&bits, &powers->table[i & 31].hi, sizeof bits);
    bits -= (uint64_t)i << 47;
    memcpy(hi, &bits, sizeof bits);
    *lo = powers->table[i & 31].lo;
}

#endif

#if GV_F64_LANES != 8
GV_INLINE void gv_lanes_exp2(const gv_dd *table, gv_lanes shifted, gv_lanes *hi, gv_lanes *lo, gv_lanes *scale) {
    double step[GV_F64_LANES], head[GV_F64_LANES], rest[GV_F64_LANES], power[GV_F64_LANES];
    gv_lanes_store(step, shifted);
    for (int k = 0; k < GV_F64_LANES; k++) {
        uint32_t i = gv_step_row(step + k), j = (0u - i) & 63;
        head[k] = table[j].hi;
        rest[k] = table[j].lo;
        power[k] = gv_power_of_two(-(int)((i + j) >> 6));
    }
    *hi = gv_lanes_load(head);
    *lo = gv_lanes_load(rest);
    *scale = gv_lanes_load(power);
}

GV_INLINE size_t gv_lanes_pack(gv_lanes a, int mask, size_t first, double *x, size_t *place) {
    double lane[GV_F64_LANES];
    size_t count = 0;
    gv_lanes_store(lane, a);
    for (size_t i = 0; i < GV_F64_LANES; i++) {
        x[count] = lane[i];
        place[count] = first + i;
        count += (size_t)mask >> i & 1;
    }
    return count;
}
#endif

typedef struct { gv_lanes hi, lo; } gv_lanes_pair;

/* C++ has no compound literals */
GV_INLINE gv_lanes_pair gv_lanes_pair_make(gv_lanes hi, gv_lanes lo) {
    gv_lanes_pair a = {hi, lo};
    return a;
}

/* hi + lo within loss */
typedef struct { gv_lanes hi, lo, loss; } gv_lanes_sum;

/* y, one of the two ends rounded; bit i of the result: lane i is not decided */
GV_INLINE int gv_lanes_round(gv_lanes_sum v, double *y) {
    gv_lanes up = v.hi + (v.lo + v.loss), down = v.hi + (v.lo - v.loss);
    gv_lanes_store(y, up);
    return gv_lanes_differ(up, down);
}

/* a + b exactly */
GV_INLINE gv_lanes_pair gv_lanes_two_sum(gv_lanes a, gv_lanes b) {
    gv_lanes s = a + b, t = s - a;
    return gv_lanes_pair_make(s, (a - (s - t)) + (b - t));
}

/* a + b exactly, |a| >= |b|, or a a multiple of ulp(b) */
GV_INLINE gv_lanes_pair gv_lanes_fast_two_sum(gv_lanes a, gv_lanes b) {
    gv_lanes s = a + b;
    return gv_lanes_pair_make(s, b - (s - a));
}

/* a = head + rest, 26 bits each (Veltkamp) */
GV_INLINE gv_lanes_pair gv_lanes_split(gv_lanes a) {
    gv_lanes shifted = a * 0x1p27 + a, head = shifted - (shifted - a);
    return gv_lanes_pair_make(head, a - head);
}

/* a * b exactly: with fma, else by Dekker's algorithm; barring underflow */
GV_INLINE gv_lanes_pair gv_lanes_product(gv_lanes a, gv_lanes b) {
    gv_lanes p = a * b;
#if GV_HAVE_FMA
    return gv_lanes_pair_make(p, gv_lanes_madd(a, b, -p));
#else
    gv_lanes_pair s = gv_lanes_split(a), t = gv_lanes_split(b);
    return gv_lanes_pair_make(p, ((s.hi * t.hi - p) + s.hi * t.lo + s.lo * t.hi) + s.lo * t.lo);
#endif
}

/* a b + c where that is far smaller than c: one rounding with fma, else that of c + a b and one of the result */
GV_INLINE gv_lanes gv_lanes_remainder(gv_lanes a, gv_lanes b, gv_lanes c) {
#if GV_HAVE_FMA
    return gv_lanes_madd(a, b, c);
#else
    gv_lanes_pair p = gv_lanes_product(a, b);
    return (c + p.hi) + p.lo;
#endif
}

#endif
