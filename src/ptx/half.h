/* float16 and bfloat16, in double: every value of both, every product, and, rounded to odd, every sum is one. */
#ifndef GELU_VERIFY_PTX_HALF_H
#define GELU_VERIFY_PTX_HALF_H
#include "types.h"

namespace ptx {
enum rounding { RN, RZ, RM, RP, RNA }; /* to nearest even, to zero, down, up, to nearest away from zero */

struct f16_format {
    enum { PRECISION = 11, EMIN = -14, INFINITE = 0x7c00 };
};
struct bf16_format {
    enum { PRECISION = 8, EMIN = -126, INFINITE = 0x7f80 };
};
enum : u16 { HALF_NAN = 0x7fff };

/* Whether the magnitude n + rest/2^shift is rounded to n + 1 */
static inline bool is_rounded_up(u64 n, u64 rest, int shift, bool negative, rounding mode) {
    u64 half = 1ull << (shift - 1);
    switch (mode) {
        case RN: return rest > half || (rest == half && (n & 1));
        case RNA: return rest >= half;
        case RM: return rest && negative;
        case RP: return rest && !negative;
        default: return false;
    }
}

template <class Format> static inline u16 narrowed(f64 v, rounding mode = RN, bool finite = false) {
    const int P = Format::PRECISION, LEAST = Format::EMIN - (P - 1);
    u64 word = bits<u64>(v), magnitude = word & 0x7fffffffffffffffull;
    bool negative = word >> 63;
    u16 sign = negative ? 0x8000 : 0;
    if (magnitude > 0x7ff0000000000000ull) return HALF_NAN;
    if (magnitude < 0x0010000000000000ull) { /* a subnormal double is far below a quarter of the least number */
        bool up = magnitude && ((mode == RM && negative) || (mode == RP && !negative));
        return sign | (up ? 1 : 0);
    }
    u16 most = sign | (Format::INFINITE - 1), infinite = sign | Format::INFINITE;
    if (magnitude == 0x7ff0000000000000ull) return finite ? most : infinite;
    int exponent = (int)(magnitude >> 52) - 1023;
    u64 m = (magnitude & 0xfffffffffffffull) | 1ull << 52;
    int quantum = exponent - (P - 1) > LEAST ? exponent - (P - 1) : LEAST, shift = quantum - (exponent - 52);
    u64 n, rest;
    if (shift > 62) {
        n = 0;
        rest = 1;
        shift = 62;
    } else {
        n = m >> shift;
        rest = m & ((1ull << shift) - 1);
    }
    if (is_rounded_up(n, rest, shift, negative, mode)) n++;
    u64 result = n + ((u64)(quantum - LEAST) << (P - 1));
    if (result >= Format::INFINITE) {
        bool to_most = finite || mode == RZ || (mode == RM && !negative) || (mode == RP && negative);
        return to_most ? most : infinite;
    }
    return sign | (u16)result;
}

template <class Format> static inline f64 widened(u16 h) {
    const int P = Format::PRECISION;
    u32 magnitude = h & 0x7fff, exponent = magnitude >> (P - 1), fraction = magnitude & ((1u << (P - 1)) - 1);
    f64 v;
    if (magnitude > Format::INFINITE) v = bits<f64>(0x7ff8000000000000ull);
    else if (magnitude == Format::INFINITE) v = bits<f64>(0x7ff0000000000000ull);
    else if (exponent == 0) v = (f64)fraction * bits<f64>((u64)(1023 + Format::EMIN - (P - 1)) << 52);
    else v = bits<f64>(((u64)((int)exponent - 1 + Format::EMIN + 1023) << 52) | (u64)fraction << (52 - (P - 1)));
    return h & 0x8000 ? -v : v;
}

/* a + b rounded to odd: where it is inexact, the one of the two neighbours whose last bit is set */
static inline f64 odd_sum(f64 a, f64 b) {
    f64 s = a + b, part = s - a, error = (a - (s - part)) + (b - part);
    u64 word = bits<u64>(s);
    if (!(fabs(s) <= 1.7976931348623157e308) || error == 0.0 || (word & 1)) return s;
    return bits<f64>((error > 0.0) == (s > 0.0) ? word + 1 : word - 1);
}

template <class Format> static inline u16 half_add(u16 a, u16 b, rounding mode = RN) {
    return narrowed<Format>(odd_sum(widened<Format>(a), widened<Format>(b)), mode);
}
template <class Format> static inline u16 half_sub(u16 a, u16 b, rounding mode = RN) {
    return narrowed<Format>(odd_sum(widened<Format>(a), -widened<Format>(b)), mode);
}
template <class Format> static inline u16 half_mul(u16 a, u16 b, rounding mode = RN) {
    return narrowed<Format>(widened<Format>(a) * widened<Format>(b), mode);
}
template <class Format> static inline u16 half_fma(u16 a, u16 b, u16 c, rounding mode = RN) {
    return narrowed<Format>(odd_sum(widened<Format>(a) * widened<Format>(b), widened<Format>(c)), mode);
}

template <class Format> static inline u16 half_ftz(u16 a) {
    return (a & 0x7fff) < (1 << (Format::PRECISION - 1)) ? a & 0x8000 : a;
}
template <class Format> static inline bool half_is_nan(u16 a) { return (a & 0x7fff) > Format::INFINITE; }
template <class Format> static inline u16 half_sat(u16 a) {
    f64 v = widened<Format>(a);
    return v >= 1.0 ? narrowed<Format>(1.0) : v > 0.0 ? a : 0;
}
template <class Format> static inline u16 half_relu(u16 a) {
    return half_is_nan<Format>(a) ? HALF_NAN : a & 0x8000 ? 0 : a;
}
/* -0 is below +0; a NaN is returned where nans is set, else the other one */
template <class Format> static inline u16 half_extreme(u16 a, u16 b, bool least, bool nans) {
    bool a_nan = half_is_nan<Format>(a), b_nan = half_is_nan<Format>(b);
    if (a_nan || b_nan) return nans || (a_nan && b_nan) ? (u16)HALF_NAN : a_nan ? b : a;
    f64 x = widened<Format>(a), y = widened<Format>(b);
    bool a_less = x == y ? (a & 0x8000) > (b & 0x8000) : x < y;
    return a_less == least ? a : b;
}

/* Of both halves of a word */
template <class F> static inline u32 each_half(u32 a, F f) { return (u32)f((u16)a) | (u32)f((u16)(a >> 16)) << 16; }
template <class F> static inline u32 each_half(u32 a, u32 b, F f) {
    return (u32)f((u16)a, (u16)b) | (u32)f((u16)(a >> 16), (u16)(b >> 16)) << 16;
}
template <class F> static inline u32 each_half(u32 a, u32 b, u32 c, F f) {
    return (u32)f((u16)a, (u16)b, (u16)c) | (u32)f((u16)(a >> 16), (u16)(b >> 16), (u16)(c >> 16)) << 16;
}
} // namespace ptx

#endif
