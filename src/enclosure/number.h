/* The number that enclosures are computed with: one double, or the lanes of a vector register.
   The includer sets GV_LANES (1, 2, 4 or 8 doubles), GV_HAVE_FMA and GV_TYPED(name), a suffix for its names.
   Operators are C's own; what C has no operator for is here. fma only where hardware has it: every bound
   covers a * b + c with one rounding or with two. */
#include "../truth/dd.h"
#include <stdint.h>
#include <string.h>

#define gv_real GV_TYPED(gv_real)
#define gv_bits GV_TYPED(gv_bits)

#if GV_LANES == 1
typedef double gv_real;
typedef uint64_t gv_bits;
#else
typedef double gv_real __attribute__((vector_size(8 * GV_LANES)));
typedef uint64_t gv_bits __attribute__((vector_size(8 * GV_LANES)));
#endif

/* the exact value lies between a and b, in either order */
#define gv_interval GV_TYPED(gv_interval)
typedef struct { gv_real a, b; } gv_interval;

#define gv_between GV_TYPED(gv_between)
GV_INLINE gv_interval gv_between(gv_real a, gv_real b) {
    gv_interval y;
    y.a = a;
    y.b = b;
    return y;
}

#define gv_as_bits GV_TYPED(gv_as_bits)
GV_INLINE gv_bits gv_as_bits(gv_real x) {
    gv_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#define gv_as_real GV_TYPED(gv_as_real)
GV_INLINE gv_real gv_as_real(gv_bits bits) {
    gv_real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define gv_magnitude GV_TYPED(gv_magnitude)
GV_INLINE gv_real gv_magnitude(gv_real x) { return gv_as_real(gv_as_bits(x) & UINT64_C(0x7fffffffffffffff)); }

/* c with the sign bit of x flipped in */
#define gv_times_sign GV_TYPED(gv_times_sign)
GV_INLINE gv_real gv_times_sign(gv_real c, gv_real x) {
    return gv_as_real(gv_as_bits(c) ^ (gv_as_bits(x) & UINT64_C(0x8000000000000000)));
}

/* a b + c */
#define gv_madd GV_TYPED(gv_madd)
/* the smaller, the larger of a and b; b where one of them is a NaN */
#define gv_min GV_TYPED(gv_min)
#define gv_max GV_TYPED(gv_max)
/* x where x >= 0 or x is a NaN, else 0 */
#define gv_not_negative GV_TYPED(gv_not_negative)
#if GV_LANES == 1
GV_INLINE double gv_min(double a, double b) { return a < b ? a : b; }
GV_INLINE double gv_max(double a, double b) { return a > b ? a : b; }
#if GV_HAVE_FMA
GV_INLINE double gv_madd(double a, double b, double c) { return fma(a, b, c); }
#else
GV_INLINE double gv_madd(double a, double b, double c) { return a * b + c; }
#endif
#else
#if GV_LANES == 2 && defined(__SSE2__)
GV_INLINE gv_real gv_min(gv_real a, gv_real b) { return (gv_real)_mm_min_pd(a, b); }
GV_INLINE gv_real gv_max(gv_real a, gv_real b) { return (gv_real)_mm_max_pd(a, b); }
#elif GV_LANES == 2
GV_INLINE gv_real gv_min(gv_real a, gv_real b) {
    float64x2_t x = (float64x2_t)a, y = (float64x2_t)b;
    return (gv_real)vbslq_f64(vcltq_f64(x, y), x, y);
}
GV_INLINE gv_real gv_max(gv_real a, gv_real b) {
    float64x2_t x = (float64x2_t)a, y = (float64x2_t)b;
    return (gv_real)vbslq_f64(vcgtq_f64(x, y), x, y);
}
#elif GV_LANES == 4
GV_INLINE gv_real gv_min(gv_real a, gv_real b) { return (gv_real)_mm256_min_pd(a, b); }
GV_INLINE gv_real gv_max(gv_real a, gv_real b) { return (gv_real)_mm256_max_pd(a, b); }
#elif GV_LANES == 8
GV_INLINE gv_real gv_min(gv_real a, gv_real b) { return (gv_real)_mm512_min_pd(a, b); }
GV_INLINE gv_real gv_max(gv_real a, gv_real b) { return (gv_real)_mm512_max_pd(a, b); }
#endif
#if !GV_HAVE_FMA
GV_INLINE gv_real gv_madd(gv_real a, gv_real b, gv_real c) { return a * b + c; }
#elif GV_LANES == 2
GV_INLINE gv_real gv_madd(gv_real a, gv_real b, gv_real c) {
    return (gv_real)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#elif GV_LANES == 4
GV_INLINE gv_real gv_madd(gv_real a, gv_real b, gv_real c) { return (gv_real)_mm256_fmadd_pd(a, b, c); }
#elif GV_LANES == 8
GV_INLINE gv_real gv_madd(gv_real a, gv_real b, gv_real c) { return (gv_real)_mm512_fmadd_pd(a, b, c); }
#endif
#endif

/* the same number in every lane */
#define gv_all GV_TYPED(gv_all)
GV_INLINE gv_real gv_all(double c) {
#if GV_LANES == 1
    return c;
#else
    return (gv_real){0} + c;
#endif
}
