/* float64: C's double rounds every operation. */
#define DTYPE "float64"
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f64
#define BITS uint64_t
#define T double
#define LOAD(b) f64_of_bits(b)
#define NARROW(v) bits_of_f64(v)
#define STORE(v) NARROW(v)
#define ROUND(v) (v)
#define LIBM(name) name
#define FMA(a, b, c) fma(a, b, c)
