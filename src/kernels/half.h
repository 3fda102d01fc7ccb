/* float16 and bfloat16 <-> float, in plain C: round to nearest even, subnormals kept, NaN stays a (quiet) NaN.

   Bit for bit what F16C, AVX512-BF16 and CUDA's conversions give (tests/kernels/test_kernels.py: all 2^16 patterns one way;
   every halfway point and its neighbours, and random floats, the other). */
#ifndef GELU_VERIFY_HALF_H
#define GELU_VERIFY_HALF_H

#include <stdint.h>
#include <string.h>

#ifndef KERNEL_INLINE
#ifdef __CUDACC__
#define KERNEL_INLINE static __host__ __device__ inline
#else
#define KERNEL_INLINE static inline
#endif
#endif

KERNEL_INLINE uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

KERNEL_INLINE float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

KERNEL_INLINE uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

KERNEL_INLINE double f64_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

KERNEL_INLINE float f32_of_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude > 0x7c00) /* NaN: payload to the top, quiet */
        return f32_of_bits(sign | 0x7fc00000 | (magnitude << 13));
    if (magnitude == 0x7c00)
        return f32_of_bits(sign | 0x7f800000);
    if (magnitude < 0x0400) /* subnormal: a multiple of 2^-24 */
        return f32_of_bits(sign | bits_of_f32((float)magnitude * 0x1p-24f));
    return f32_of_bits(sign | ((magnitude << 13) + 0x38000000)); /* exponent bias 15 -> 127 */
}

KERNEL_INLINE uint16_t f16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN: top of the payload, quiet */
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x03ff));
    if (magnitude >= 0x477ff000) /* 65520, halfway from the largest float16 to 2^16 */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) /* below 2^-14: the last place of 0.5 is that of a subnormal, so the adder rounds it */
        return (uint16_t)(sign | (bits_of_f32(f32_of_bits(magnitude) + 0.5f) - 0x3f000000));
    magnitude += 0x0fff + (magnitude >> 13 & 1); /* half a last place, less one where the place is even */
    return (uint16_t)(sign | (magnitude - 0x38000000) >> 13);
}

KERNEL_INLINE float f32_of_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    return f32_of_bits((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x00400000 : bits);
}

KERNEL_INLINE uint16_t bf16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x0040);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
