/* MLAS, ONNX Runtime on the CPU: microsoft/onnxruntime onnxruntime/core/mlas/lib/erf.cpp and tanh.cpp, with fma (MIT).
   Erf after N. Juffa: a polynomial, or 1 - exp of one. Tanh is Eigen's, limited to 9, where the quotient is above 1. */

PART(mlas_exp, v, /* for v <= 0 */
    const float shift = 0x1.8p+23f; /* 1.5*2^23: adding it rounds to an integer */
    float a = fmaxf(-88.3762626647949f, (float)v);
    float n = fmaf(1.44269504088896341f, a, shift) - shift;
    float f = fmaf(n, -1.42860677e-6f, fmaf(n, -6.93145752e-1f, a));
    float r = fmaf(1.38319808e-3f, f, 8.37550033e-3f);
    r = fmaf(r, f, 4.16689515e-2f);
    r = fmaf(r, f, 1.66664466e-1f);
    r = fmaf(r, f, 4.99999851e-1f);
    r = fmaf(fmaf(r, f, 1.0f), f, 1.0f);
    return r * f32_of_bits((uint32_t)((int)n + 127) << 23);
)

PART(mlas_erf_fma, v,
    float x = (float)v;
    float a = fabsf(x) > 3.925f ? 3.925f : fabsf(x), s = a * a;
    if (a > 0.921875f) {
        float r = fmaf(1.72948930e-5f, a, -3.83208680e-4f);
        r = fmaf(r, a, 3.88393435e-3f);
        r = fmaf(r, a, -2.42545605e-2f);
        r = fmaf(r, a, 1.06777847e-1f);
        r = fmaf(r, a, 6.34846687e-1f);
        r = fmaf(r, a, 1.28717512e-1f);
        return copysignf(1.0f - (float)NAME(mlas_exp)(-fmaf(r, a, a)), x);
    }
    float r = fmaf(-5.99104969e-4f, s, 4.99339588e-3f);
    r = fmaf(r, s, -2.67667342e-2f);
    r = fmaf(r, s, 1.12818025e-1f);
    r = fmaf(r, s, -3.76124859e-1f);
    r = fmaf(r, s, 1.28379151e-1f);
    return copysignf(fmaf(r, a, a), x);
)

PART(mlas_tanh_fma, x,
    T v = x < -9 ? -9 : x > 9 ? 9 : x;
    RATIONAL_TANH(FMA, v);
)

FLOAT32(mlas, erf, erf, "polynomial below 0.921875, 1 - exp(polynomial) up to 3.925",
    "microsoft/onnxruntime onnxruntime/core/mlas/lib/erf.cpp, vector path with fma",
    return NAME(mlas_erf_fma)(x);
)

FLOAT32(mlas, tanh, tanh, "x*P(x*x)/Q(x*x), |x| limited to 9: up to 1 + 2^-22",
    "microsoft/onnxruntime onnxruntime/core/mlas/lib/tanh.cpp, vector path with fma",
    return NAME(mlas_tanh_fma)(x);
)

FLOAT32(mlas, gelu, gelu, "0.5*x*(erf(x*sqrt(1/2)) + 1)",
    "microsoft/onnxruntime onnxruntime/core/providers/cpu/tensor/gelu.cc",
    return MUL(MUL(HALF, x), ADD(NAME(mlas_erf_fma)(MUL(x, SQRT_HALF)), ONE));
)

/* Positive for x in [-5.155, -4.927], where tanh is below -1. */
FLOAT32(mlas, gelu_tanh, gelu_tanh, "0.5*x*(1 + tanh(x*(0.0356774*x*x + 0.797885)))",
    "microsoft/onnxruntime onnxruntime/core/providers/cpu/tensor/gelu.cc, approximate=tanh",
    const T c = CONSTANT(0.035677408136300125f); /* 0.044715*sqrt(2/pi) */
    T u = MUL(x, ADD(MUL(MUL(c, x), x), SQRT_2_OVER_PI));
    return MUL(MUL(HALF, x), ADD(NAME(mlas_tanh_fma)(u), ONE));
)
