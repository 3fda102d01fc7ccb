/* 16 bits, every operation rounded to the format. */
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) IN_FORMAT(f)
#define T float
#define STORE(v) NARROW(v)
#define ROUND(v) LOAD(NARROW(v))
#define LIBM(name) name##f
#define FMA(a, b, c) ROUND(fma_odd(a, b, c)) /* ../published/rounding.h */
