/* Rounding in a stated direction, from an enclosed value (value.h): the definition of gelu_verify/formats.py,
   Format.round, for what the bound decides.

   toward zero   |y| cut off to the format: the largest number not above |y|
   down, up      toward zero, then one number further where something was cut off and the direction is away from zero
   odd           toward zero, then the last bit set where something was cut off

   Overflow cuts off to the largest number, underflow to zero. What is exact is not moved. In the terms of judge.h,
   y = (n + f + l) u(y) within er u(y): cut off to n, or to n - 1 where f + l < 0.

   Test      tests/truth/test_rounding_modes.py, against the oracle
   Used by   reference_bits of gelu_verify/truth/values.py */
#ifndef GV_TRUTH_ROUNDING_H
#define GV_TRUTH_ROUNDING_H
#include "core.h"

typedef enum { GV_TO_DOWN, GV_TO_UP, GV_TO_ZERO, GV_TO_ODD } gv_direction;

/* 1 and the bits, or 0 where the bound does not decide on which side of a number y lies. */
GV_INLINE int gv_round_directed(gv_value v, const gv_format *fmt, uint64_t infinity, gv_direction direction,
                                uint64_t *bits) {
    gv_units u = gv_in_units(v, fmt);
    double rest = u.f != 0.0 ? u.f : u.l; /* its sign is that of f + l, as in gv_error */
    uint64_t magnitude = (uint64_t)(u.n - (rest < 0.0)), inexact = rest != 0.0;
    int min_exponent = fmt->emin - fmt->precision + 1;
    if (magnitude >> fmt->precision) { /* beyond the format */
        magnitude = infinity - 1;
        inexact = 1;
    } else if (magnitude >> (fmt->precision - 1)) {
        magnitude += (uint64_t)(u.ue - min_exponent) << (fmt->precision - 1);
    }
    if (direction == GV_TO_ODD) magnitude |= inexact;
    else if (direction != GV_TO_ZERO) magnitude += inexact & (uint64_t)((direction == GV_TO_DOWN) == u.negative);
    *bits = magnitude | (uint64_t)u.negative << (fmt->width - 1);
    return u.binade_decided && gv_sides_decided(&u);
}

/* want and GV_DECIDED of n inputs, from the values at them; limits as for gv_judge, rounded in that direction. */
static void gv_round_all(const gv_value *y, const gv_format *fmt, const uint64_t *limits, gv_direction direction,
                         const void *x_bits, void *want, unsigned char *flags, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double x = gv_decode(gv_read(x_bits, i, fmt->width), fmt);
        uint64_t bits = 0;
        flags[i] = GV_DECIDED;
        if (x != x) bits = limits[0];
        else if (fabs(x) > DBL_MAX) bits = limits[x < 0.0 ? 1 : 2];
        else if (x == 0.0) bits = limits[signbit(x) ? 3 : 4];
        else if (y[i].hi != y[i].hi) bits = limits[0];
        else if (fabs(y[i].hi) > DBL_MAX || y[i].hi == 0.0)
            bits = (y[i].hi == 0.0 ? 0 : limits[5]) | (uint64_t)(signbit(y[i].hi) != 0) << (fmt->width - 1);
        else flags[i] = gv_round_directed(y[i], fmt, limits[5], direction, &bits) ? GV_DECIDED : 0;
        gv_write(want, i, fmt->width, bits);
    }
}

#endif
