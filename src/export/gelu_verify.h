/* Correctly rounded GELUs, one value at a time, in C99, C++11 and later, and CUDA (on host and device).

     float    gv_cr_gelu_f32(float x)                 every one of the 2^32 inputs is decided
     double   gv_cr_gelu_f64(double x, int *decided)  decided = 0: see below
     uint16_t gv_cr_gelu_f16(uint16_t x_bits)         binary16, bits in and bits out
     uint16_t gv_cr_gelu_bf16(uint16_t x_bits)        bfloat16, likewise

   and so for gelu_tanh, gelu_sigmoid, silu, and gelu_grad, gelu_tanh_grad, gelu_sigmoid_grad, silu_grad.
   Round to nearest, ties to even, subnormals kept; NaN gives the canonical quiet NaN; limits at the infinities, -0 at
   -inf. A value is computed in double-double with a bound (truth/value.h), and rounded where the bound decides
   (truth/judge.h). Formula, bound and proof of each function: math/<function>.h.

   decided = 0 in double: the exact value lies within the bound, 2^-88 relative, of the middle between two doubles, and
   the result is one of these two. That happens for less than one random input in 2^34; only next to the zero of a
   gradient, where the bound is on what is subtracted, is it usual. gelu_verify.gelu in Python calls its oracle there.

   Compile with -ffp-contract=off (nvcc: -fmad=false), without -ffast-math; call in the default rounding mode, with
   subnormals on. Over arrays the kernels of cr/cr.h are a hundred times as fast. */
#ifndef GELU_VERIFY_H
#define GELU_VERIFY_H
#include "truth/judge.h"
#include "math/gelu.h"
#include "math/gelu_sigmoid.h"
#include "math/gelu_tanh.h"
#include "math/silu.h"

#ifdef __CUDACC__
#define GV_FUNCTION static inline __host__ __device__
#else
#define GV_FUNCTION static inline
#endif

GV_FUNCTION gv_format gv_make_format(int width, int precision, int emax) {
    gv_format fmt = {width, precision, 1 - emax, emax};
    return fmt;
}

/* Bits of 2^e, a normal number; 2^(emax+1) is infinity. */
GV_FUNCTION uint64_t gv_power_bits(int e, const gv_format *fmt) {
    return (uint64_t)(e - fmt->emin + 1) << (fmt->precision - 1);
}

/* f(x) at NaN, infinities and zeros */
GV_FUNCTION uint64_t gv_limit_bits(double x, int gradient, const gv_format *fmt) {
    uint64_t infinity = gv_power_bits(fmt->emax + 1, fmt), minus_zero = UINT64_C(1) << (fmt->width - 1);
    if (x != x) return infinity | UINT64_C(1) << (fmt->precision - 2);
    if (x == 0.0) return gradient ? gv_power_bits(-1, fmt) : signbit(x) ? minus_zero : 0;
    return x < 0.0 ? minus_zero : gradient ? gv_power_bits(0, fmt) : infinity;
}

GV_FUNCTION uint64_t gv_rounded_bits(gv_value y, const gv_format *fmt, int *decided) {
    uint64_t y_bits = 0;
    gv_units u = gv_in_units(y, fmt);
    *decided = gv_round(&u, fmt, gv_power_bits(fmt->emax + 1, fmt), &y_bits);
    return y_bits;
}

GV_FUNCTION uint32_t gv_f32_to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GV_FUNCTION float gv_f32_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define GV_CORRECTLY_ROUNDED(name, gradient) \
    GV_FUNCTION uint64_t gv_cr_##name##_bits(uint64_t x_bits, gv_format fmt, int *decided) { \
        double x = gv_decode(x_bits, &fmt); \
        *decided = 1; \
        if (x == 0.0 || !(fabs(x) <= DBL_MAX)) return gv_limit_bits(x, gradient, &fmt); \
        return gv_rounded_bits(gv_##name(x), &fmt, decided); \
    } \
    GV_FUNCTION float gv_cr_##name##_f32(float x) { \
        int decided; \
        uint64_t y_bits = gv_cr_##name##_bits(gv_f32_to_bits(x), gv_make_format(32, 24, 127), &decided); \
        return gv_f32_from_bits((uint32_t)y_bits); \
    } \
    GV_FUNCTION double gv_cr_##name##_f64(double x, int *decided) { \
        return gv_from_bits(gv_cr_##name##_bits(gv_to_bits(x), gv_make_format(64, 53, 1023), decided)); \
    } \
    GV_FUNCTION uint16_t gv_cr_##name##_f16(uint16_t x_bits) { \
        int decided; \
        return (uint16_t)gv_cr_##name##_bits(x_bits, gv_make_format(16, 11, 15), &decided); \
    } \
    GV_FUNCTION uint16_t gv_cr_##name##_bf16(uint16_t x_bits) { \
        int decided; \
        return (uint16_t)gv_cr_##name##_bits(x_bits, gv_make_format(16, 8, 127), &decided); \
    }

GV_CORRECTLY_ROUNDED(gelu, 0)
GV_CORRECTLY_ROUNDED(gelu_tanh, 0)
GV_CORRECTLY_ROUNDED(gelu_sigmoid, 0)
GV_CORRECTLY_ROUNDED(silu, 0)
GV_CORRECTLY_ROUNDED(gelu_grad, 1)
GV_CORRECTLY_ROUNDED(gelu_tanh_grad, 1)
GV_CORRECTLY_ROUNDED(gelu_sigmoid_grad, 1)
GV_CORRECTLY_ROUNDED(silu_grad, 1)

#endif
