/* oneDNN: uxlfoundation/oneDNN src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp, src/common/math_utils.hpp,
   src/gpu/intel/include/eltwise_fwd_body.hxx (Apache-2.0). */

PART(onednn_exp, v, /* the JIT's: results below the smallest normal are 0 */
    const float lowest = -0x1.5d58ap+6f; /* log(FLT_MIN) */
    float x = (float)v;
    if (x < lowest)
        return 0;
    x = x < 0x1.62e43p+6f ? x : 0x1.62e43p+6f;
    float n = floorf(x * 0x1.715476p+0f /* log2(e) */ + 0.5f), r = fmaf(-n, 0x1.62e43p-1f /* log(2) */, x);
    float p = fmaf(0x1.0f9f9cp-7f, r, 0x1.573a1ap-5f);
    p = fmaf(p, r, 0x1.555a8p-3f);
    p = fmaf(p, r, 0x1.fffdc6p-2f);
    p = fmaf(p, r, 0x1.fffff6p-1f);
    return fmaf(p, r, 1.0f) * f32_of_bits((uint32_t)((int)n - 1 + 127) << 23) * 2.0f;
)

/* Abramowitz and Stegun 7.1.26 with fma, v = x/sqrt(2), q = exp(-v*v). */
#define ONEDNN_ERF(v, q)                                                                                               \
    float t = 1.0f / fmaf(0x1.4f740ap-2f, fabsf(v), 1.0f);                                                             \
    float r = fmaf(0x1.0fb844p+0f, t, -0x1.7401c6p+0f);                                                                \
    r = fmaf(r, t, 0x1.6be1c6p+0f);                                                                                    \
    r = fmaf(r, t, -0x1.23531cp-2f);                                                                                   \
    r = fmaf(r, t, 0x1.04f20cp-2f);                                                                                    \
    float erf = fmaf(-q * t, r, 1.0f);                                                                                 \
    erf = signbit(v) ? -erf : erf

FLOATMATH(onednn, gelu_erf_avx2, gelu, "S + S*erf(x/sqrt(2)), S = x/2, erf by Abramowitz and Stegun 7.1.26",
    "uxlfoundation/oneDNN src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp, below AVX-512, with fma",
    float v = x * 0x1.6a09e6p-1f; /* sqrt(1/2) */
    float q = NAME(onednn_exp)(-(v * v));
    ONEDNN_ERF(v, q);
    return fmaf(erf, 0.5f * x, 0.5f * x);
)

FLOATMATH(onednn, gelu_erf_grad_avx2, gelu_grad, "v/sqrt(pi)*exp(-v*v) + 0.5 + 0.5*erf(v), v = x/sqrt(2)",
    "uxlfoundation/oneDNN src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp, with fma",
    float v = x * 0x1.6a09e6p-1f; /* sqrt(1/2) */
    float q = NAME(onednn_exp)(-(v * v));
    ONEDNN_ERF(v, q);
    return fmaf(erf, 0.5f, v * 0x1.20dd74p-1f /* 1/sqrt(pi) */ * q + 0.5f);
)

/* Piece 23 is the constant 1: at +inf Horner's rule multiplies 0 by it. */
FLOATMATH(onednn, gelu_erf_avx512, gelu, "x*(1 + erf(x/sqrt(2)))*0.5, erf by 24 polynomials of degree 5",
    "uxlfoundation/oneDNN src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp, AVX-512",
    float a = fabsf(x);
    int32_t index = (int32_t)(bits_of_f32(a) + 0xc21fffffu) >> 21;
    index = index < 1 ? 1 : index > 24 ? 24 : index;
    const float *c = onednn_erf[0x1.62b9dcp+2f < a ? 23 : index];
    float p = fmaf(fmaf(fmaf(fmaf(fmaf(c[5], a, c[4]), a, c[3]), a, c[2]), a, c[1]), a, c[0]);
    p = signbit(x) ? -p : p;
    return x * (p + 1.0f) * 0.5f;
)

FLOATMATH(onednn, gelu_erf_ref, gelu, "0.5*x*(1 + erff(x*sqrt(1/2)))",
    "uxlfoundation/oneDNN src/common/math_utils.hpp, gelu_erf_fwd",
    return MUL(MUL(HALF, x), ADD(ONE, ERF(MUL(x, SQRT_HALF))));
)

FLOATMATH(onednn, gelu_erf_grad_ref, gelu_grad, "0.5*(1 + erff(v) + v*2/sqrt(pi)*expf(-v*v)), v = x*sqrt(1/2)",
    "uxlfoundation/oneDNN src/common/math_utils.hpp, gelu_erf_bwd",
    T v = MUL(x, SQRT_HALF);
    return MUL(HALF, ADD(ADD(ONE, ERF(v)), MUL(MUL(v, TWO_OVER_SQRT_PI), EXP(MUL(-v, v)))));
)

FLOATMATH(onednn, gelu_tanh_ref, gelu_tanh, "0.5*x*(1 + tanhf(0.79788458347*x*(1 + 0.044715*x*x))), the last in double",
    "uxlfoundation/oneDNN src/common/math_utils.hpp, gelu_tanh_fwd",
    float t = tanhf(0x1.988452p-1f /* 0.79788458347 */ * x * (1 + 0x1.6e4e26p-5f /* 0.044715 */ * x * x));
    return (float)(0.5 * x * (1. + t));
)

FLOATMATH(onednn, gelu_tanh_gpu, gelu_tanh, "x/(1 + exp(-1.5957691669*x*(1 + 0.044715*x*x)))",
    "uxlfoundation/oneDNN src/gpu/intel/include/eltwise_fwd_body.hxx; exp of the C library instead of the GPU's",
    const T scale = CONSTANT(0x1.988452p+0); /* 1.5957691669464111 */
    return DIV(x, ADD(ONE, EXP(-MUL(MUL(scale, x), ADD(ONE, MUL(MUL(CUBE, x), x))))));
)

#undef ONEDNN_ERF
