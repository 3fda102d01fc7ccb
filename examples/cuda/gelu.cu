// The GELU of PyTorch's CUDA kernels: half types are computed in float and rounded once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float gelu(float x) { return x * 0.5f * (1.0f + erff(x * 0.70710678118654752440f)); }

__global__ void gelu_f32(const float *x, float *y, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = gelu(x[i]);
}

__global__ void gelu_bf16(const __nv_bfloat16 *x, __nv_bfloat16 *y, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2bfloat16(gelu(__bfloat162float(x[i])));
}
