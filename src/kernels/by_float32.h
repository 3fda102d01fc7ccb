/* 16 bits, computed in float32 and rounded once. */
#define SUFFIX "-f32"
#define ROUNDING "computed in float32, rounded once"
#define NAME(f) IN_FORMAT(f##_by_f32)
#define T float
#define STORE(v) NARROW(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#define FMA(a, b, c) fmaf(a, b, c)
