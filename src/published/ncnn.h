/* ncnn on ARMv8.2 with float16 arithmetic: Tencent/ncnn src/layer/arm/gelu_arm_asimdhp.cpp of commit a2c45773, which
   newer versions have as fast_gelu in src/layer/arm/gelu_fp16s.h (fast_gelu_ps_f16), and
   src/layer/arm/neon_mathfun_fp16s.h (BSD-3-Clause). In float16 the coefficients of the tanh become subnormal or 0. */

PART(ncnn_rational_tanh, v,
    RATIONAL_TANH(FMA, v);
)

PART(ncnn_tanh, x,
    T v = ABS(x);
    if (!(v >= CONSTANT(1e-4f)))
        return x;
    return COPYSIGN(NAME(ncnn_rational_tanh)(v <= 9 ? v : 9), x);
)

FLOAT16(ncnn, tanh_fp16, tanh, "x*P(x*x)/Q(x*x), |x| limited to 9, everything in float16",
    "Tencent/ncnn src/layer/arm/neon_mathfun_fp16s.h, tanh_ps_f16",
    return NAME(ncnn_tanh)(x);
)

FLOAT16(ncnn, gelu_fp16, gelu_tanh, "0.5*(x*(1 + tanh(fma(0.79788452, x, 0.0356774*x^3)))), everything in float16",
    "Tencent/ncnn a2c45773 src/layer/arm/gelu_arm_asimdhp.cpp, forward_inplace_fp16sa; now fast_gelu in gelu_fp16s.h",
    const T scale = CONSTANT(0.79788452f);
    T u = FMA(scale, x, MUL(CONSTANT(0.044715f * 0.79788452f), MUL(x, MUL(x, x))));
    return MUL(HALF, MUL(ADD(ONE, NAME(ncnn_tanh)(u)), x));
)
