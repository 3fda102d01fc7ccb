/* Transformer Engine: NVIDIA/TransformerEngine transformer_engine/common/util/math.h (Apache-2.0), in float32, with the
   C library's tanhf. */

FLOATMATH(transformer_engine, gelu, gelu_tanh, "x*(0.5 + 0.5*tanhf(x*(0.79788456 + 0.03567741*x*x)))",
    "NVIDIA/TransformerEngine transformer_engine/common/util/math.h, gelu; tanhf of the C library",
    return x * (0.5f + 0.5f * tanhf(x * (0.79788456f + 0.03567741f * x * x)));
)

FLOATMATH(transformer_engine, dgelu, gelu_tanh_grad,
    "0.5*x*((1 - t*t)*(0.79788456 + 0.1070322243*x*x)) + 0.5*(1 + t), t = tanhf(0.79788456*x*(1 + 0.044715*x*x))",
    "NVIDIA/TransformerEngine transformer_engine/common/util/math.h, dgelu; tanhf of the C library",
    float t = tanhf(0.79788456f * x * (1.0f + 0.044715f * x * x));
    return 0.5f * x * ((1.0f - t * t) * (0.79788456f + 0.1070322243f * x * x)) + 0.5f * (1.0f + t);
)
