/* What re-implementations need beside src/kernels/half.h: fused multiply-add in 16 bits, float64 rounded once. */
#ifndef GELU_VERIFY_PUBLISHED_ROUNDING_H
#define GELU_VERIFY_PUBLISHED_ROUNDING_H

#include <math.h>

#include "../kernels/half.h"

/* v as a float, rounded to odd: rounding that to at most 22 bits equals rounding v (Boldo and Melquiond 2008). */
KERNEL_INLINE float f32_odd_of_f64(double v)
{
    float nearest = (float)v;
    uint32_t bits = bits_of_f32(nearest);
    if (nearest == v || v != v || (bits & 1))
        return nearest;
    return f32_of_bits(fabs((double)nearest) > fabs(v) ? bits - 1 : bits + 1);
}

/* a*b + c rounded once to odd, for a, b and c of 16 bits: a*b is exact in double, the error of the sum decides. */
KERNEL_INLINE float fma_odd(float a, float b, float c)
{
    double product = (double)a * b, sum = product + c, part = sum - product;
    double error = (product - (sum - part)) + (c - part);
    uint64_t bits = bits_of_f64(sum);
    if (error != 0 && error == error && !(bits & 1))
        sum = f64_of_bits((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
    return f32_odd_of_f64(sum);
}

#endif
