/* Eight floats: in one register, or in an array. The includer has set up bracket/number.h. */

#define gv_eight GV_TYPED(gv_eight)
#define gv_widen GV_TYPED(gv_widen)
#define gv_narrow GV_TYPED(gv_narrow)
#define gv_store_eight GV_TYPED(gv_store_eight)
#define gv_open_lanes GV_TYPED(gv_open_lanes)

#define GV_WIDTH 8
#define GV_PARTS (GV_WIDTH / GV_LANES)

/* gv_widen: GV_LANES floats as doubles; gv_narrow: GV_PARTS numbers rounded to floats.
   gv_open_lanes: bit k where a[k] and b[k] differ, or |x[k]| > limit, or one of them is a NaN. */
#if GV_LANES >= 4
typedef __m256 gv_eight;

#if GV_LANES == 4
GV_INLINE gv_real gv_widen(const float *x) { return (gv_real)_mm256_cvtps_pd(_mm_loadu_ps(x)); }
GV_INLINE gv_eight gv_narrow(const gv_real *v) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)v[0])), _mm256_cvtpd_ps((__m256d)v[1]), 1);
}
#else
GV_INLINE gv_real gv_widen(const float *x) { return (gv_real)_mm512_cvtps_pd(_mm256_loadu_ps(x)); }
GV_INLINE gv_eight gv_narrow(const gv_real *v) { return _mm512_cvtpd_ps((__m512d)v[0]); }
#endif

GV_INLINE void gv_store_eight(float *y, gv_eight v) { _mm256_storeu_ps(y, v); }

GV_INLINE unsigned gv_open_lanes(gv_eight a, gv_eight b, const float *x, float limit) {
    __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_loadu_ps(x));
    __m256 inside = _mm256_cmp_ps(magnitude, _mm256_set1_ps(limit), _CMP_LE_OQ);
    return 255u ^ (unsigned)_mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ), inside));
}
#else
typedef struct { float lane[GV_WIDTH]; } gv_eight;

GV_INLINE gv_real gv_widen(const float *x) {
#if GV_LANES == 1
    return (double)*x;
#else
    return (gv_real)_mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd((const double *)(const void *)x)));
#endif
}

GV_INLINE gv_eight gv_narrow(const gv_real *v) {
    gv_eight y;
    double wide[GV_WIDTH];
    memcpy(wide, v, sizeof wide);
    for (int k = 0; k < GV_WIDTH; k++) y.lane[k] = (float)wide[k];
    return y;
}

GV_INLINE void gv_store_eight(float *y, gv_eight v) { memcpy(y, v.lane, sizeof v.lane); }

GV_INLINE unsigned gv_open_lanes(gv_eight a, gv_eight b, const float *x, float limit) {
    unsigned open = 0;
    for (int k = 0; k < GV_WIDTH; k++) open |= (unsigned)!(a.lane[k] == b.lane[k] && fabsf(x[k]) <= limit) << k;
    return open;
}
#endif
