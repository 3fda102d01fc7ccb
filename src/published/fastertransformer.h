/* FasterTransformer and TensorRT-LLM: NVIDIA/FasterTransformer src/fastertransformer/kernels/activation_kernels.cu
   (Apache-2.0). tanh_opt is tanh.approx.f32 on sm_75 and later, which no CPU has: here it is tanhf. */

FLOAT32(fastertransformer, gelu, gelu_tanh, "x*(0.5*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x*x*x))))",
    "NVIDIA/FasterTransformer src/fastertransformer/kernels/activation_kernels.cu, GeluActivation; tanh_opt as tanhf",
    T u = MUL(SQRT_2_OVER_PI, ADD(x, MUL(MUL(MUL(CUBE, x), x), x)));
    return MUL(x, MUL(HALF, ADD(ONE, TANH(u))));
)

/* x^3 in half, the rest of the factor in float, the product in half. */
HALVES(fastertransformer, gelu, gelu_tanh, "x*half(0.5*(1 + tanh(sqrt(2/pi)*(x + 0.044715*half(x*x*x)))))",
    "NVIDIA/FasterTransformer src/fastertransformer/kernels/activation_kernels.cu, half2 and bf162; tanh_opt as tanhf",
    float cube = MUL(x, MUL(x, x));
    float cdf = 0.5f * (1.0f + tanhf(0x1.988454p-1f /* sqrt(2/pi) */ * (x + 0x1.6e4e26p-5f /* 0.044715 */ * cube)));
    return MUL(x, ROUND(cdf));
)
