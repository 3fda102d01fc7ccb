/* y = m x on a device, by the sampler of the CPU: the same bits for the same seed, call and place.
   rate: bits of a double; start: place of the first element. Dropped is a zero with the sign of x, as the product is.
   Compiled with -fmad=false by gelu_verify/stochastic/device.py: the shared headers count every rounding as written.
   Test: tests/stochastic/test_sampler.py, nvcc's PTX executed on the CPU, against the CPU's own */
#include "stochastic/sampler.h"

template <class T>
static __device__ __forceinline__ void gv_map(const T *x, T *y, uint64_t n, uint64_t law, uint64_t rate, uint64_t seed,
                                              uint64_t call, uint64_t start) {
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        T v = x[i];
        int kept = gv_keeps((int)law, (double)v, gv_from_bits(rate), gv_element_bits(start + i, call, seed));
        y[i] = kept ? v : (T)copysign(0.0, (double)v);
    }
}

extern "C" __global__ void __launch_bounds__(256)
    gv_map_f32(const float *x, float *y, uint64_t n, uint64_t law, uint64_t rate, uint64_t seed, uint64_t call,
               uint64_t start) {
    gv_map(x, y, n, law, rate, seed, call, start);
}

extern "C" __global__ void __launch_bounds__(256)
    gv_map_f64(const double *x, double *y, uint64_t n, uint64_t law, uint64_t rate, uint64_t seed, uint64_t call,
               uint64_t start) {
    gv_map(x, y, n, law, rate, seed, call, start);
}
