/* XNNPACK: google/XNNPACK src/f32-vgelu, src/f16-vgelu, src/f32-vapproxgelu, src/f16-vapproxgelu (BSD-3-Clause).
   erf(x/sqrt(2)), or tanh(u), is a rational function of x within a limit beyond which it is meant to be 1. */

#define CLAMPED(limit) (x < (limit) ? (x > -(limit) ? x : -(limit)) : x == x ? (limit) : x)
#define RATIONAL_12_10(MAC, limit, a1, a3, a5, a7, a9, a11, b2, b4, b6, b8, b10)                                       \
    T v = CLAMPED(CONSTANT(limit)), v2 = MUL(v, v);                                                                    \
    T p = MAC(v2, CONSTANT(a11), CONSTANT(a9));                                                                        \
    p = MAC(v2, p, CONSTANT(a7));                                                                                      \
    p = MAC(v2, p, CONSTANT(a5));                                                                                      \
    p = MAC(v2, p, CONSTANT(a3));                                                                                      \
    p = MUL(v, MAC(v2, p, CONSTANT(a1)));                                                                              \
    T q = MAC(v2, CONSTANT(b10), CONSTANT(b8));                                                                        \
    q = MAC(v2, q, CONSTANT(b6));                                                                                      \
    q = MAC(v2, q, CONSTANT(b4));                                                                                      \
    q = MAC(v2, q, CONSTANT(b2));                                                                                      \
    return MUL(MUL(x, HALF), ADD(DIV(p, MAC(v2, q, ONE)), ONE))
#define RATIONAL_6_4(MAC, limit, a1, a3, a5, b2, b4)                                                                   \
    T v = CLAMPED(CONSTANT(limit)), v2 = MUL(v, v);                                                                    \
    T p = MUL(v, MAC(v2, MAC(v2, CONSTANT(a5), CONSTANT(a3)), CONSTANT(a1)));                                          \
    T q = MAC(v2, MAC(v2, CONSTANT(b4), CONSTANT(b2)), ONE);                                                           \
    return MUL(MUL(x, HALF), ADD(DIV(p, q), ONE))
#define EXACT_12_10                                                                                                    \
    7.9788452387e-01f, 6.6972173750e-02f, 9.3065137044e-03f, 3.2973114867e-04f, 1.2609783880e-05f, 4.5835321316e-08f,  \
        2.5060352683e-01f, 2.8431978077e-02f, 1.8622842617e-03f, 7.2267655923e-05f, 1.1988805682e-06f
#define TANH_12_10                                                                                                     \
    7.9788458347e-01f, 6.0803253204e-02f, 7.2898347862e-03f, 2.6887017884e-04f, 1.4302649106e-05f, 4.9544411240e-08f,  \
        2.4369759858e-01f, 2.4381054565e-02f, 1.3060354395e-03f, 7.6477612311e-05f, 1.3433452750e-06f
#define EXACT_6_4 7.9763203859e-01f, 1.5397867560e-01f, 4.5998394489e-03f, 3.5756936669e-01f, 4.2862996459e-02f
#define TANH_6_4 7.9763704538e-01f, 1.4811584353e-01f, 4.3507730588e-03f, 3.5130375624e-01f, 4.0821321309e-02f
#define TANH_6_4_FLOAT 7.9785156250e-01f, 1.1065673828e-01f, 3.5572052002e-03f, 3.0517578125e-01f, 3.1005859375e-02f
#define APPLY(f, ...) f(__VA_ARGS__) /* expands the lists of coefficients first */

FLOAT32(xnnpack, gelu, gelu, "x/2*(erf + 1), erf rational 12/10 up to |x| = 5.16383, with fma",
    "google/XNNPACK src/f32-vgelu/rational-12-10.c.in",
    APPLY(RATIONAL_12_10, FMA, 5.1638283730e+00f, EXACT_12_10);
)

FLOAT32(xnnpack, gelu_nofma, gelu, "x/2*(erf + 1), erf rational 12/10 up to |x| = 5.1159, without fma",
    "google/XNNPACK src/f32-vgelu/rational-12-10.c.in",
    APPLY(RATIONAL_12_10, MUL_ADD, 5.1158981323e+00f, EXACT_12_10);
)

FLOAT16(xnnpack, gelu, gelu, "x/2*(erf + 1), erf rational 6/4 up to |x| = 3.5, with fma",
    "google/XNNPACK src/f16-vgelu/rational-6-4.c.in",
    APPLY(RATIONAL_6_4, FMA, 3.5e+00f, EXACT_6_4);
)

FLOAT16(xnnpack, gelu_nofma, gelu, "x/2*(erf + 1), erf rational 6/4 up to |x| = 3.28906, without fma",
    "google/XNNPACK src/f16-vgelu/rational-6-4.c.in",
    APPLY(RATIONAL_6_4, MUL_ADD, 3.28906250e+00f, EXACT_6_4);
)

FLOAT32(xnnpack, gelu_tanh, gelu_tanh, "x/2*(tanh + 1), tanh(u) rational 12/10 up to |x| = 4.84974, with fma",
    "google/XNNPACK src/f32-vapproxgelu/rational-12-10.c.in",
    APPLY(RATIONAL_12_10, FMA, 4.84974098e+00f, TANH_12_10);
)

FLOAT16(xnnpack, gelu_tanh, gelu_tanh, "x/2*(tanh + 1), tanh(u) rational 6/4 up to |x| = 3.26367, with fma",
    "google/XNNPACK src/f16-vapproxgelu/rational-6-4.c.in",
    APPLY(RATIONAL_6_4, FMA, 3.26367188e+00f, TANH_6_4);
)

FLOAT16(xnnpack, gelu_tanh_nofma, gelu_tanh, "x/2*(tanh + 1), tanh(u) rational 6/4 up to |x| = 3.26953, without fma",
    "google/XNNPACK src/f16-vapproxgelu/rational-6-4.c.in",
    APPLY(RATIONAL_6_4, MUL_ADD, 3.26953125e+00f, TANH_6_4);
)

#define IN_FLOAT(a1, a3, a5, b2, b4)                                                                                   \
    float v = CLAMPED(3.26953125e+00f), v2 = v * v;                                                                    \
    float p = v * (v2 * (v2 * (a5) + (a3)) + (a1));                                                                    \
    float q = v2 * (v2 * (b4) + (b2)) + 1.0f;                                                                          \
    return x * 0.5f * (p / q + 1.0f)

FLOAT16(xnnpack, gelu_tanh_f32acc, gelu_tanh, "x/2*(tanh + 1), tanh(u) rational 6/4 up to |x| = 3.26953, in float32",
    "google/XNNPACK src/f16-vapproxgelu/f16-f32acc.c.in, f16c, without fma",
    APPLY(IN_FLOAT, TANH_6_4_FLOAT);
)

/* With the coefficients that were fitted to float16's roundings the quotient ends at 0.99894, not at 1, and the answer for
   large negative x is 0.0005*x: what LiteRT 2.3 computes. */
FLOAT16(xnnpack, gelu_tanh_f32acc_2025, gelu_tanh,
    "x/2*(tanh + 1), tanh(u) rational 6/4 up to |x| = 3.26953, in float32 with float16's coefficients",
    "google/XNNPACK src/f16-vapproxgelu/f16-f32acc.c.in as linked into LiteRT 2.3, f16c, without fma",
    APPLY(IN_FLOAT, TANH_6_4);
)

#define IN_FLOAT_FMA(a1, a3, a5, b2, b4)                                                                               \
    float v = CLAMPED(3.26367188e+00f), v2 = v * v;                                                                    \
    float p = v * fmaf(v2, fmaf(v2, (a5), (a3)), (a1));                                                                \
    float q = fmaf(v2, fmaf(v2, (b4), (b2)), 1.0f);                                                                    \
    return x * 0.5f * (p / q + 1.0f)

/* The same on a processor with AVX-512. */
FLOAT16(xnnpack, gelu_tanh_f32acc_2025_avx512, gelu_tanh,
    "x/2*(tanh + 1), tanh(u) rational 6/4 up to |x| = 3.26367, in float32 with float16's coefficients",
    "google/XNNPACK src/f16-vapproxgelu/f16-f32acc.c.in as linked into LiteRT 2.3, avx512skx, with fma",
    APPLY(IN_FLOAT_FMA, TANH_6_4);
)

#undef CLAMPED
#undef RATIONAL_12_10
#undef RATIONAL_6_4
#undef EXACT_12_10
#undef TANH_12_10
#undef EXACT_6_4
#undef TANH_6_4
#undef TANH_6_4_FLOAT
#undef IN_FLOAT
#undef IN_FLOAT_FMA
#undef APPLY
