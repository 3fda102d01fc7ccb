/* Double-double arithmetic: an unevaluated sum hi + lo with |lo| <= ulp(hi)/2.
   Relative errors (Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building
   blocks of double-word arithmetic", ACM TOMS 44, 2017; u = 2^-53):
     gv_dd_add (AccurateDWPlusDW) 3u^2 + 13u^3; gv_dd_mul (DWTimesDW3) 5u^2; gv_dd_add_d, gv_dd_mul_d 2u^2;
     gv_dd_div (DWDivDW2, its product by fma) 20u^2, shown in docs/proofs.md.
   Barring underflow; no contraction (-ffp-contract=off), fma only where written. */
#ifndef GV_TRUTH_DD_H
#define GV_TRUTH_DD_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define GV_INLINE static __host__ __device__ __forceinline__
#define GV_UNROLL _Pragma("unroll")
#define GV_ROLLED _Pragma("unroll 1")
#elif defined(__clang__)
#define GV_INLINE static inline __attribute__((always_inline))
#define GV_UNROLL _Pragma("clang loop unroll(full)")
#define GV_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define GV_INLINE static inline __attribute__((always_inline))
#define GV_UNROLL _Pragma("GCC unroll 16")
#define GV_ROLLED _Pragma("GCC unroll 1")
#else
#define GV_INLINE static inline
#define GV_UNROLL
#define GV_ROLLED
#endif

/* what is seldom called: inlined, it would take registers of what is always done */
#if defined(__GNUC__)
#define GV_SELDOM static __attribute__((noinline))
#else
#define GV_SELDOM static
#endif

#ifdef __CUDA_ARCH__ /* each side of a CUDA file has its own copy of the tables */
#define GV_TABLE static __device__ const
#define GV_UNIFORM_TABLE static __constant__ const /* read at one place by all threads */
#else
#define GV_TABLE static const
#define GV_UNIFORM_TABLE static const
#endif

typedef struct { double hi, lo; } gv_dd;
typedef struct {
    gv_dd m;
    int k;
} gv_scaled_dd; /* m 2^k */

/* C++ has no compound literals */
GV_INLINE gv_dd gv_dd_make(double hi, double lo) {
    gv_dd a = {hi, lo};
    return a;
}

GV_INLINE gv_scaled_dd gv_scaled(gv_dd m, int k) {
    gv_scaled_dd a = {m, k};
    return a;
}

GV_INLINE double gv_from_bits(uint64_t bits) {
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

GV_INLINE uint64_t gv_to_bits(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

/* 2^k, -1022 <= k <= 1023 */
GV_INLINE double gv_power_of_two(int k) { return gv_from_bits((uint64_t)(k + 1023) << 52); }

/* floor(log2 a) of a normal a > 0 */
GV_INLINE int gv_exponent(double a) { return (int)(gv_to_bits(a) >> 52) - 1023; }

GV_INLINE gv_dd gv_dd_from(double a) { return gv_dd_make(a, 0.0); }

/* a + b exactly, |a| >= |b| or a = 0 */
GV_INLINE gv_dd gv_fast_two_sum(double a, double b) {
    double s = a + b;
    return gv_dd_make(s, b - (s - a));
}

/* a + b exactly */
GV_INLINE gv_dd gv_two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return gv_dd_make(s, (a - (s - t)) + (b - t));
}

GV_INLINE gv_dd gv_dd_neg(gv_dd a) { return gv_dd_make(-a.hi, -a.lo); }

GV_INLINE gv_dd gv_dd_scale(gv_dd a, double power_of_two) {
    return gv_dd_make(a.hi * power_of_two, a.lo * power_of_two);
}

#ifndef GV_QUICK

/* a * b exactly */
GV_INLINE gv_dd gv_two_prod(double a, double b) {
    double p = a * b;
    return gv_dd_make(p, fma(a, b, -p));
}

GV_INLINE gv_dd gv_dd_add(gv_dd a, gv_dd b) {
    gv_dd s = gv_two_sum(a.hi, b.hi), t = gv_two_sum(a.lo, b.lo);
    gv_dd v = gv_fast_two_sum(s.hi, s.lo + t.hi);
    return gv_fast_two_sum(v.hi, t.lo + v.lo);
}

GV_INLINE gv_dd gv_dd_add_d(gv_dd a, double b) {
    gv_dd s = gv_two_sum(a.hi, b);
    return gv_fast_two_sum(s.hi, a.lo + s.lo);
}

GV_INLINE gv_dd gv_dd_mul(gv_dd a, gv_dd b) {
    gv_dd p = gv_two_prod(a.hi, b.hi);
    double t = fma(a.hi, b.lo, fma(a.lo, b.hi, a.lo * b.lo));
    return gv_fast_two_sum(p.hi, p.lo + t);
}

GV_INLINE gv_dd gv_dd_mul_d(gv_dd a, double b) {
    gv_dd p = gv_two_prod(a.hi, b);
    return gv_fast_two_sum(p.hi, fma(a.lo, b, p.lo));
}

GV_INLINE gv_dd gv_dd_div(gv_dd a, gv_dd b) {
    double q = a.hi / b.hi;
    gv_dd r = gv_dd_mul_d(b, q);
    return gv_fast_two_sum(q, ((a.hi - r.hi) + (a.lo - r.lo)) / b.hi);
}

#else /* the same operations in double, lo = 0: no fma, so that no instruction set is slow or different */

GV_INLINE gv_dd gv_two_prod(double a, double b) { return gv_dd_from(a * b); }
GV_INLINE gv_dd gv_dd_add(gv_dd a, gv_dd b) { return gv_dd_from(a.hi + b.hi); }
GV_INLINE gv_dd gv_dd_add_d(gv_dd a, double b) { return gv_dd_from(a.hi + b); }
GV_INLINE gv_dd gv_dd_mul(gv_dd a, gv_dd b) { return gv_dd_from(a.hi * b.hi); }
GV_INLINE gv_dd gv_dd_mul_d(gv_dd a, double b) { return gv_dd_from(a.hi * b); }
GV_INLINE gv_dd gv_dd_div(gv_dd a, gv_dd b) { return gv_dd_from(a.hi / b.hi); }

#endif

GV_INLINE gv_dd gv_dd_sub(gv_dd a, gv_dd b) { return gv_dd_add(a, gv_dd_neg(b)); }

#endif
