/* From the bits of a format to the number that a form computes with, and back: one rounding, subnormals kept. */
#ifndef GELU_VERIFY_CUDA_FORMATS_H
#define GELU_VERIFY_CUDA_FORMATS_H
#include "kernels/half.h"
#include "device.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
GV_DEVICE float gv_float_of_f16(uint16_t half) { return __half2float(__ushort_as_half(half)); }
GV_DEVICE uint16_t gv_f16_of_float(float v) { return __half_as_ushort(__float2half_rn(v)); }
GV_DEVICE float gv_float_of_bf16(uint16_t half) { return __bfloat162float(__ushort_as_bfloat16(half)); }
GV_DEVICE uint16_t gv_bf16_of_float(float v) { return __bfloat16_as_ushort(__float2bfloat16_rn(v)); }
#else
GV_DEVICE float gv_float_of_f16(uint16_t half) { return f32_of_f16(half); }
GV_DEVICE uint16_t gv_f16_of_float(float v) { return f16_of_f32(v); }
GV_DEVICE float gv_float_of_bf16(uint16_t half) { return f32_of_bf16(half); }
GV_DEVICE uint16_t gv_bf16_of_float(float v) { return bf16_of_f32(v); }
#endif

#define GV_FORMAT(name, Bits, Number, LOAD, STORE) \
    struct name { \
        typedef Bits bits; \
        typedef Number number; \
        enum { lanes = 1 }; \
        GV_MEMBER number load(const bits *b) { return LOAD(*b); } \
        GV_MEMBER void store(bits *b, number v) { *b = STORE(v); } \
    };

GV_FORMAT(gv_float16, uint16_t, float, gv_float_of_f16, gv_f16_of_float)
GV_FORMAT(gv_bfloat16, uint16_t, float, gv_float_of_bf16, gv_bf16_of_float)
GV_FORMAT(gv_float32, uint32_t, float, f32_of_bits, bits_of_f32)
GV_FORMAT(gv_float64, uint64_t, double, f64_of_bits, bits_of_f64)

#endif
