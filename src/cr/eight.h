/* Eight floats: in one register, or in an array. The includer has set up enclosure/number.h. */

#define gv_eight GV_TYPED(gv_eight)
#define gv_widen GV_TYPED(gv_widen)
#define gv_narrow GV_TYPED(gv_narrow)
#define gv_store_eight GV_TYPED(gv_store_eight)
#define gv_undecided_lanes GV_TYPED(gv_undecided_lanes)

#define GV_PARTS (8 / GV_LANES)

/* gv_widen: GV_LANES floats as doubles; gv_narrow: GV_PARTS numbers rounded to floats.
   gv_undecided_lanes: bit k where the bits of a[k] and b[k] differ, or |x[k]| > limit, or x[k] is a NaN. */
#if GV_LANES >= 4
typedef __m256 gv_eight;

#if GV_LANES == 4
GV_INLINE gv_real gv_widen(const float *x) { return (gv_real)_mm256_cvtps_pd(_mm_loadu_ps(x)); }
GV_INLINE gv_eight gv_narrow(const gv_real *v) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)v[0])), _mm256_cvtpd_ps((__m256d)v[1]),
                                1);
}
#else
GV_INLINE gv_real gv_widen(const float *x) { return (gv_real)_mm512_cvtps_pd(_mm256_loadu_ps(x)); }
GV_INLINE gv_eight gv_narrow(const gv_real *v) { return _mm512_cvtpd_ps((__m512d)v[0]); }
#endif

GV_INLINE void gv_store_eight(float *y, gv_eight v) { _mm256_storeu_ps(y, v); }

/* Of integers: comparisons of floats would wait for the units that multiply. */
GV_INLINE unsigned gv_undecided_lanes(gv_eight a, gv_eight b, const float *x, float limit) {
    __m256i magnitude = _mm256_castps_si256(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_loadu_ps(x)));
    __m256i beyond = _mm256_sub_epi32(_mm256_castps_si256(_mm256_set1_ps(limit)), magnitude); /* its sign */
    __m256i same = _mm256_cmpeq_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
    return 255u ^ (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_andnot_si256(beyond, same)));
}
#elif GV_LANES == 2 && defined(__aarch64__)
typedef float32x4x2_t gv_eight;

GV_INLINE gv_real gv_widen(const float *x) { return (gv_real)vcvt_f64_f32(vld1_f32(x)); }
GV_INLINE float32x4_t gv_narrow_four(const gv_real *v) {
    return vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)v[0]), (float64x2_t)v[1]);
}
GV_INLINE gv_eight gv_narrow(const gv_real *v) {
    gv_eight y = {{gv_narrow_four(v), gv_narrow_four(v + 2)}};
    return y;
}

GV_INLINE void gv_store_eight(float *y, gv_eight v) {
    vst1q_f32(y, v.val[0]);
    vst1q_f32(y + 4, v.val[1]);
}

/* all bits of the lanes that are decided */
GV_INLINE uint32x4_t gv_decided_four(float32x4_t a, float32x4_t b, const float *x, float limit) {
    return vandq_u32(vceqq_f32(a, b), vcaleq_f32(vld1q_f32(x), vdupq_n_f32(limit)));
}

GV_INLINE unsigned gv_undecided_lanes(gv_eight a, gv_eight b, const float *x, float limit) {
    const uint16x8_t bits = {1, 2, 4, 8, 16, 32, 64, 128};
    uint32x4_t first = gv_decided_four(a.val[0], b.val[0], x, limit);
    uint32x4_t second = gv_decided_four(a.val[1], b.val[1], x + 4, limit);
    return vaddvq_u16(vbicq_u16(bits, vuzp1q_u16(vreinterpretq_u16_u32(first), vreinterpretq_u16_u32(second))));
}
#else
typedef struct { float lane[8]; } gv_eight;

GV_INLINE gv_real gv_widen(const float *x) {
#if GV_LANES == 1
    return (double)*x;
#else
    return (gv_real)_mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd((const double *)(const void *)x)));
#endif
}

GV_INLINE gv_eight gv_narrow(const gv_real *v) {
    gv_eight y;
    double wide[8];
    memcpy(wide, v, sizeof wide);
    for (int k = 0; k < 8; k++) y.lane[k] = (float)wide[k];
    return y;
}

GV_INLINE void gv_store_eight(float *y, gv_eight v) { memcpy(y, v.lane, sizeof v.lane); }

GV_INLINE unsigned gv_undecided_lanes(gv_eight a, gv_eight b, const float *x, float limit) {
    unsigned open = 0;
    for (int k = 0; k < 8; k++) open |= (unsigned)!(a.lane[k] == b.lane[k] && fabsf(x[k]) <= limit) << k;
    return open;
}
#endif
