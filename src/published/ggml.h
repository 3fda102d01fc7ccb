/* ggml, llama.cpp, whisper.cpp: ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml/src/ggml-vulkan (MIT). */

#define F16(v) f32_of_f16(f16_of_f32(v))

FLOATMATH(ggml, gelu_erf, gelu, "0.5*x*(1 + erff(x*sqrt(1/2)))",
    "ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml_vec_gelu_erf_f32",
    return MUL(MUL(HALF, x), ADD(ONE, ERF(MUL(x, SQRT_HALF))));
)

/* In float whatever T is: what fills the table. */
PART(ggml_gelu_float, v,
    float x = (float)v;
    float u = 0x1.988454p-1f /* sqrt(2/pi) */ * x * (1.0f + 0x1.6e4e26p-5f /* 0.044715 */ * x * x);
    return 0.5f * x * (1.0f + tanhf(u));
)

/* float32 goes through a table of all float16 answers. */
FLOAT32(ggml, gelu, gelu_tanh, "float16 table of 0.5*x*(1 + tanh(...)), clamped at +-10",
    "ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml_vec_gelu_f32 with GGML_GELU_FP16",
    return x <= -10.0f ? 0.0f : x >= 10.0f ? x : F16(NAME(ggml_gelu_float)(F16(x)));
)

FLOAT16(ggml, gelu, gelu_tanh, "float16 table of 0.5*x*(1 + tanh(...))",
    "ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml_vec_gelu_f16",
    return NAME(ggml_gelu_float)(x);
)

/* No clamp: below -65520 the index is -inf, and the answer NaN. */
FLOAT32(ggml, gelu_quick, gelu_sigmoid, "float16 table of x/(1 + exp(-1.702*x))",
    "ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml_vec_gelu_quick_f32 with GGML_GELU_QUICK_FP16",
    float v = F16(x);
    return F16(v * (1.0f / (1.0f + expf(-0x1.b3b646p+0f /* 1.702 */ * v))));
)

FLOAT16(ggml, gelu_quick, gelu_sigmoid, "x*(1/(1 + exp(-1.702*x))), computed in float32",
    "ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml_vec_gelu_quick_f16",
    return x * (1.0f / (1.0f + expf(-0x1.b3b646p+0f /* 1.702 */ * x)));
)

FLOATMATH(ggml, gelu_vulkan, gelu_tanh, "0.5*x*(2 - 2/(exp(2*u) + 1)), u = sqrt(2/pi)*x*(1 + 0.044715*x*x)",
    "ggml-org/llama.cpp ggml/src/ggml-vulkan/vulkan-shaders/gelu.comp; exp of the C library instead of the GPU's",
    T u = MUL(MUL(SQRT_2_OVER_PI, x), ADD(ONE, MUL(MUL(CUBE, x), x)));
    return MUL(MUL(HALF, x), SUB(TWO, DIV(TWO, ADD(EXP(MUL(TWO, u)), ONE))));
)

FLOATMATH(ggml, silu, silu, "x/(1 + exp(-x))",
    "ggml-org/llama.cpp ggml/src/ggml-cpu/vec.h, ggml_silu_f32; exp of the C library instead of ggml_v_expf",
    return DIV(x, ADD(ONE, EXP(-x)));
)

#undef F16
