/* float32: C's float rounds every operation. */
#define DTYPE "float32"
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f32
#define BITS uint32_t
#define T float
#define LOAD(b) f32_of_bits(b)
#define NARROW(v) bits_of_f32(v)
#define STORE(v) NARROW(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#define FMA(a, b, c) fmaf(a, b, c)
