/* Elementwise activations as libraries write them: vectors, pairs of halves, templates, staging in shared memory; and
   the same with one thing wrong. tests/ptx/test_activations.py says what each must be found to be. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned long long count;
#define INDEX ((count)blockIdx.x * blockDim.x + threadIdx.x)

/* one number a thread, an int for the count, the constants of many inference engines */
__global__ void engine_gelu(const float *x, float *y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.79788456080286535587989211986876f * v * (1.0f + 0.044715f * v * v)));
}

__global__ void engine_gelu_wrong_digit(const float *x, float *y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.79788456080286535587989211986876f * v * (1.0f + 0.044175f * v * v)));
}

__global__ void engine_gelu_wrong_lane(const float *x, float *y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    float v = x[threadIdx.x == 13 && i ? i - 1 : i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.79788456080286535587989211986876f * v * (1.0f + 0.044715f * v * v)));
}

/* four numbers a thread where they are aligned, in an arithmetic that is wider than the format */
template <class T> struct alignas(4 * sizeof(T)) four { T v[4]; };

template <class T> __global__ void framework_gelu(const T *__restrict__ x, T *__restrict__ y, size_t n) {
    size_t i = 4 * INDEX;
    if (i + 4 <= n) {
        four<T> u = *reinterpret_cast<const four<T> *>(x + i);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float v = static_cast<float>(u.v[k]);
            u.v[k] = static_cast<T>(v * 0.5f * (1.0f + erff(v * 0.70710678118654752440f)));
        }
        *reinterpret_cast<four<T> *>(y + i) = u;
    } else {
        for (; i < n; i++) {
            float v = static_cast<float>(x[i]);
            y[i] = static_cast<T>(v * 0.5f * (1.0f + erff(v * 0.70710678118654752440f)));
        }
    }
}

/* the same that forgets what a vector of four leaves over */
template <class T> __global__ void framework_gelu_no_tail(const T *__restrict__ x, T *__restrict__ y, size_t n) {
    size_t i = 4 * INDEX;
    if (i >= n) return;
    four<T> u = *reinterpret_cast<const four<T> *>(x + i);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float v = static_cast<float>(u.v[k]);
        u.v[k] = static_cast<T>(v * 0.5f * (1.0f + erff(v * 0.70710678118654752440f)));
    }
    *reinterpret_cast<four<T> *>(y + i) = u;
}

/* pairs of halves, and a stride over the grid */
__global__ void pairs_silu(const __half *x, __half *y, size_t n) {
    for (size_t i = INDEX; 2 * i < n; i += (size_t)gridDim.x * blockDim.x) {
        if (2 * i + 1 < n) {
            float2 v = __half22float2(reinterpret_cast<const __half2 *>(x)[i]);
            v.x = v.x / (1.0f + expf(-v.x));
            v.y = v.y / (1.0f + expf(-v.y));
            reinterpret_cast<__half2 *>(y)[i] = __floats2half2_rn(v.x, v.y);
        } else {
            float v = __half2float(x[2 * i]);
            y[2 * i] = __float2half_rn(v / (1.0f + expf(-v)));
        }
    }
}

__global__ void quick_gelu(const __nv_bfloat16 *x, __nv_bfloat16 *y, size_t n) {
    size_t i = INDEX;
    if (i < n) {
        float v = __bfloat162float(x[i]);
        y[i] = __float2bfloat16(v / (1.0f + __expf(-1.702f * v)));
    }
}

__global__ void exact_gelu(const double *x, double *y, size_t n) {
    size_t i = INDEX;
    if (i < n) y[i] = x[i] * 0.5 * (1.0 + tanh(0.79788456080286535588 * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
}

__global__ void inverse_root(const double *x, double *y, size_t n) {
    size_t i = INDEX;
    if (i < n) y[i] = rsqrt(x[i]);
}

/* staged through shared memory, by the neighbour */
__global__ void staged_relu(const float *x, float *y, size_t n) {
    __shared__ float tile[256];
    size_t i = INDEX;
    if (i < n) tile[threadIdx.x] = __ldg(x + i);
    __syncthreads();
    size_t j = (size_t)blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
    if (j < n) {
        float v = tile[threadIdx.x ^ 1];
        y[j] = v != v ? v : fmaxf(v, 0.0f);
    }
}

__global__ void staged_relu_without_barrier(const float *x, float *y, size_t n) {
    __shared__ float tile[256];
    size_t i = INDEX;
    if (i < n) tile[threadIdx.x] = __ldg(x + i);
    size_t j = (size_t)blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
    if (j < n) {
        float v = tile[threadIdx.x ^ 1];
        y[j] = v != v ? v : fmaxf(v, 0.0f);
    }
}

__global__ void relu_by_max(const __half *x, __half *y, size_t n) {
    size_t i = INDEX;
    if (i < n) y[i] = __hmax_nan(x[i], __float2half(0.0f));
}

/* one operation, in every way that it can be rounded */
__global__ void polynomial(const float *x, float *y, size_t n) {
    size_t i = INDEX;
    if (i < n) y[i] = x[i] * x[i] + 1.5e-40f;
}

__global__ void toward_zero(const float *x, float *y, size_t n) {
    size_t i = INDEX;
    if (i < n) y[i] = __fadd_rz(__fmul_rn(x[i], x[i]), 1.5e-40f);
}
