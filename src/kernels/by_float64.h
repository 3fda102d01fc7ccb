/* 16 bits, computed in float64 and rounded once. */
#define SUFFIX "-f64"
#define ROUNDING "computed in float64, rounded once"
#define NAME(f) IN_FORMAT(f##_by_f64)
#define T double
#define STORE(v) NARROW(f32_odd_of_f64(v)) /* ../published/rounding.h */
#define ROUND(v) (v)
#define LIBM(name) name
#define FMA(a, b, c) fma(a, b, c)
