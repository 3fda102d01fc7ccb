/* What only devices have: the approximations of their special function units. */
#ifndef GELU_VERIFY_CUDA_APPROXIMATE_H
#define GELU_VERIFY_CUDA_APPROXIMATE_H
#include "device.h"

#ifdef __CUDACC__
/* CUDA says: relative error below 2^-11 (PTX ISA, tanh). */
GV_DEVICE float gv_tanh_approx(float v) {
    float t;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(v));
    return t;
}

GV_DEVICE float gv_exp_approx(float v) { return __expf(v); }
#else /* a CPU has none: what calls these is compiled, so that its other steps can be tested */
GV_DEVICE float gv_tanh_approx(float v) { return tanhf(v); }
GV_DEVICE float gv_exp_approx(float v) { return expf(v); }
#endif

#endif
