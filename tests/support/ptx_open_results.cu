/* Activations as one writes them first, whose PTX leaves results open: docs/gpu.md has how far these matter. */
#define KERNEL(type, name, value) \
    extern "C" __global__ void name(const type *x, type *y, size_t n) { \
        size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; \
        if (i < n) y[i] = value(x[i]); \
    }

__device__ float approximate_tanh(float u) {
    float t;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(u));
    return t;
}

__device__ double erfc_form(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752440); }
__device__ double erf_form(double x) { return 0.5 * x * (1.0 + erf(x * 0.70710678118654752440)); }
__device__ double tanh_form(double x) {
    return 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
__device__ double silu_form(double x) { return x / (1.0 + exp(-x)); }
__device__ float silu_form(float x) { return x / (1.0f + expf(-x)); }
__device__ float fast_silu_form(float x) { return x / (1.0f + __expf(-x)); }
__device__ float erf_form(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752440f)); }
__device__ float tanh_form(float x) {
    return 0.5f * x * (1.0f + tanhf(0.79788456080286535588f * (x + 0.044715f * x * x * x)));
}
__device__ float fast_tanh_form(float x) {
    return 0.5f * x * (1.0f + approximate_tanh(0.79788456080286535588f * (x + 0.044715f * x * x * x)));
}

KERNEL(double, gelu_erfc, erfc_form)
KERNEL(double, gelu_erf, erf_form)
KERNEL(double, gelu_tanh, tanh_form)
KERNEL(double, silu_exp, silu_form)
KERNEL(float, silu_expf, silu_form)
KERNEL(float, silu_fast_expf, fast_silu_form)
KERNEL(float, gelu_erff, erf_form)
KERNEL(float, gelu_tanhf, tanh_form)
KERNEL(float, gelu_tanh_approx, fast_tanh_form)
