/* Four doubles at a time where AVX2 and fma are there, else one: the same operations, written once. */
#ifndef GV_CR_LANES_H
#define GV_CR_LANES_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "../core/dd.h"
#include "pieces.h"

#if GV_HAVE_FMA && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define GV_LANES 4
typedef __m256d gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return _mm256_set1_pd(a); }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return _mm256_loadu_pd(p); }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { _mm256_storeu_pd(p, a); }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return _mm256_max_pd(a, b); }
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return _mm256_fmadd_pd(a, b, c); }
/* a where x < 0 (or -0), else b */
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) { return _mm256_blendv_pd(b, a, x); }
/* -a where x >= 0, else a */
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) {
    return _mm256_xor_pd(a, _mm256_andnot_pd(x, _mm256_set1_pd(-0.0)));
}
/* bit i: up = down and a <= last in lane i */
GV_INLINE int gv_lanes_decided(gv_lanes up, gv_lanes down, gv_lanes a, gv_lanes last) {
    return _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(up, down, _CMP_EQ_OQ), _mm256_cmp_pd(a, last, _CMP_LE_OQ)));
}

/* c[k] of four rows, k = from .. from + 3 */
GV_INLINE void gv_lanes_quarter(const gv_piece *pieces, const uint32_t *row, int from, gv_lanes *c) {
    const double *p[4];
    for (int i = 0; i < 4; i++) p[i] = pieces[row[i]].c + from;
    __m256d a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p[0])), _mm_load_pd(p[2]), 1);
    __m256d b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p[1])), _mm_load_pd(p[3]), 1);
    c[0] = _mm256_unpacklo_pd(a, b);
    c[1] = _mm256_unpackhi_pd(a, b);
    a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p[0] + 2)), _mm_load_pd(p[2] + 2), 1);
    b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p[1] + 2)), _mm_load_pd(p[3] + 2), 1);
    c[2] = _mm256_unpacklo_pd(a, b);
    c[3] = _mm256_unpackhi_pd(a, b);
}

GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const uint32_t *row, gv_lanes *c) {
    gv_lanes_quarter(pieces, row, 0, c);
    gv_lanes_quarter(pieces, row, 4, c + 4);
    gv_lanes_quarter(pieces, row, 8, c + 8);
}

#else

#define GV_LANES 1
typedef double gv_lanes;

GV_INLINE gv_lanes gv_lanes_all(double a) { return a; }
GV_INLINE gv_lanes gv_lanes_load(const double *p) { return *p; }
GV_INLINE void gv_lanes_store(double *p, gv_lanes a) { *p = a; }
GV_INLINE gv_lanes gv_lanes_abs(gv_lanes a) { return fabs(a); }
GV_INLINE gv_lanes gv_lanes_max(gv_lanes a, gv_lanes b) { return a > b ? a : b; }
#if GV_HAVE_FMA
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return fma(a, b, c); }
#else
GV_INLINE gv_lanes gv_lanes_madd(gv_lanes a, gv_lanes b, gv_lanes c) { return a * b + c; }
#endif
GV_INLINE gv_lanes gv_lanes_by_sign(gv_lanes x, gv_lanes a, gv_lanes b) { return x < 0.0 ? a : b; }
GV_INLINE gv_lanes gv_lanes_against(gv_lanes x, gv_lanes a) { return x < 0.0 ? a : -a; }
GV_INLINE int gv_lanes_decided(gv_lanes up, gv_lanes down, gv_lanes a, gv_lanes last) {
    return up == down && a <= last;
}
GV_INLINE void gv_lanes_rows(const gv_piece *pieces, const uint32_t *row, gv_lanes *c) {
    for (int k = 0; k < 12; k++) c[k] = pieces[*row].c[k];
}

#endif

typedef struct { gv_lanes hi, lo; } gv_lanes_pair;

/* a + b exactly, |a| >= |b| or a = 0 */
GV_INLINE gv_lanes_pair gv_lanes_fast_two_sum(gv_lanes a, gv_lanes b) {
    gv_lanes s = a + b;
    return (gv_lanes_pair){s, b - (s - a)};
}

/* a + b exactly */
GV_INLINE gv_lanes_pair gv_lanes_two_sum(gv_lanes a, gv_lanes b) {
    gv_lanes s = a + b, t = s - a;
    return (gv_lanes_pair){s, (a - (s - t)) + (b - t)};
}

/* a * b exactly, a of at most 26 bits */
GV_INLINE gv_lanes_pair gv_lanes_product(gv_lanes a, gv_lanes b) {
#if GV_HAVE_FMA
    gv_lanes p = a * b;
    return (gv_lanes_pair){p, gv_lanes_madd(a, b, -p)};
#else
    gv_lanes shifted = b * 0x1p27 + b, head = shifted - (shifted - b); /* Veltkamp: head and rest of 26 bits */
    return (gv_lanes_pair){a * head, a * (b - head)};
#endif
}

#endif
