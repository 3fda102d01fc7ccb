/* Arithmetic of float32 and float64 as the PTX ISA specifies it: IEEE 754 with the rounding that the instruction names,
   float32 NaNs canonical, subnormals flushed where .ftz says so. Compiled with -ffp-contract=off. */
#ifndef GELU_VERIFY_PTX_ARITHMETIC_H
#define GELU_VERIFY_PTX_ARITHMETIC_H
#include <fenv.h>
#include "half.h"

namespace ptx {
static inline f32 canonical(f32 v) { return v == v ? v : bits<f32>(0x7fffffffu); }
static inline f64 canonical(f64 v) { return v; } /* payloads are kept */
static inline f32 ftz(f32 v) { return (bits<u32>(v) & 0x7f800000u) ? v : bits<f32>(bits<u32>(v) & 0x80000000u); }
static inline f32 sat(f32 v) { return v >= 1.0f ? 1.0f : v > 0.0f ? v : 0.0f; }
static inline f64 sat(f64 v) { return v >= 1.0 ? 1.0 : v > 0.0 ? v : 0.0; }

static inline int fe_mode(rounding mode) {
    return mode == RZ ? FE_TOWARDZERO : mode == RM ? FE_DOWNWARD : mode == RP ? FE_UPWARD : FE_TONEAREST;
}

/* What is computed between two of these is rounded so; volatile keeps it there. */
struct rounding_mode {
    int before;
    explicit rounding_mode(rounding mode) : before(fegetround()) { fesetround(fe_mode(mode)); }
    ~rounding_mode() { fesetround(before); }
    rounding_mode(const rounding_mode &) = delete;
};

template <class F> PTX_COLD static F
add_rounded(F a, F b, rounding mode) {
    volatile F
    x = a, y = b, r;
    rounding_mode now(mode);
    r = x + y;
    return r;
}
template <class F> PTX_COLD static F
mul_rounded(F a, F b, rounding mode) {
    volatile F
    x = a, y = b, r;
    rounding_mode now(mode);
    r = x * y;
    return r;
}
template <class F> PTX_COLD static F
div_rounded(F a, F b, rounding mode) {
    volatile F
    x = a, y = b, r;
    rounding_mode now(mode);
    r = x / y;
    return r;
}
static inline f32 fma_of(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
static inline f64 fma_of(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
static inline f32 sqrt_of(f32 a) { return __builtin_sqrtf(a); }
static inline f64 sqrt_of(f64 a) { return __builtin_sqrt(a); }
template <class F> PTX_COLD static F
fma_rounded(F a, F b, F c, rounding mode) {
    volatile F
    x = a, y = b, z = c, r;
    rounding_mode now(mode);
    r = fma_of(x, y, z);
    return r;
}
template <class F> PTX_COLD static F
sqrt_rounded(F a, rounding mode) {
    volatile F
    x = a, r;
    rounding_mode now(mode);
    r = sqrt_of(x);
    return r;
}
template <class To, class From> PTX_COLD static To converted(From a, rounding mode) {
    volatile From x = a;
    volatile To r;
    rounding_mode now(mode);
    r = (To)x;
    return r;
}

template <class F> static inline bool is_negative(F v) { return __builtin_signbit(v) != 0; }

/* -0 is below +0; a NaN is returned where nans is set, else the other one */
template <class F> static inline F
extreme(F a, F b, bool least, bool nans) {
    if (PTX_UNLIKELY(a != a || b != b)) {
        if (nans || (a != a && b != b)) return canonical(a != a ? a : b);
        return a != a ? b : a;
    }
    bool a_less = a == b ? is_negative(a) && !is_negative(b) : a < b;
    return a_less == least ? a : b;
}

/* ---- conversions ---- */

static inline f64 integral(f64 v, rounding mode) {
    return mode == RN   ? __builtin_rint(v)
           : mode == RZ ? __builtin_trunc(v)
           : mode == RM ? __builtin_floor(v)
                        : __builtin_ceil(v);
}
static inline f32 integral(f32 v, rounding mode) {
    return mode == RN   ? __builtin_rintf(v)
           : mode == RZ ? __builtin_truncf(v)
           : mode == RM ? __builtin_floorf(v)
                        : __builtin_ceilf(v);
}

/* To an integer, of the nearest where it does not fit. NaN: 0, but 2^(width - 1) where one of the types has 64 bits. */
template <class I> static inline I to_integer(f64 v, rounding mode, bool wide) {
    const int width = 8 * (int)sizeof(I);
    const bool is_signed = (I)-1 < (I)0;
    if (v != v) return wide ? (I)(1ull << (width - 1)) : (I)0;
    f64 n = integral(v, mode), end = bits<f64>((u64)(1023 + width - (is_signed ? 1 : 0)) << 52);
    if (n >= end) return is_signed ? (I)((1ull << (width - 1)) - 1) : (I) ~(I)0;
    if (n < (is_signed ? -end : 0.0)) return is_signed ? (I)(1ull << (width - 1)) : (I)0;
    return (I)n;
}

/* An integer of 64 bits as a double, rounded to odd */
template <class I> static inline f64 odd_double(I v) {
    f64 d = converted<f64>(v, RZ);
    return (I)d == v ? d : bits<f64>(bits<u64>(d) | 1);
}

/* An integer of 128 bits, limited to what I has */
template <class I> static inline I limited(__int128 v) {
    const int width = 8 * (int)sizeof(I);
    const bool is_signed = (I)-1 < (I)0;
    const __int128 one = 1, most = (one << (width - (is_signed ? 1 : 0))) - 1, least = is_signed ? -most - 1 : 0;
    return (I)(v < least ? least : v > most ? most : v);
}

/* ---- integers ---- */

static inline u32 funnel(u32 low, u32 high, u32 by, bool left, bool wraps) {
    u32 n = wraps ? by & 31 : by > 32 ? 32 : by;
    u64 both = (u64)high << 32 | low;
    return left ? (u32)((both << n) >> 32) : n == 32 ? high : (u32)(both >> n);
}

static inline u32 permuted(u32 a, u32 b, u32 selector) {
    u64 both = (u64)b << 32 | a;
    u32 result = 0;
    for (int k = 0; k < 4; k++) {
        u32 nibble = selector >> (4 * k) & 15, byte = (u32)(both >> (8 * (nibble & 7))) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * k);
    }
    return result;
}

static inline u32 lookup3(u32 a, u32 b, u32 c, u32 table) {
    u32 result = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1) result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return result;
}

template <class U> static inline U extracted(U v, u32 position, u32 length, bool is_signed) {
    const u32 width = 8 * sizeof(U);
    position &= 0xff;
    length &= 0xff;
    u32 last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
    u32 taken = position >= width ? 0 : length < width - position ? length : width - position;
    U all = ~(U)0, mask = taken == width ? all : (U)(((U)1 << taken) - 1), field = taken ? (v >> position) & mask : 0;
    return is_signed && length && (v >> last & 1) ? field | (U)~mask : field;
}

template <class U> static inline U inserted(U a, U b, u32 position, u32 length) {
    const u32 width = 8 * sizeof(U);
    position &= 0xff;
    length &= 0xff;
    if (position >= width || !length) return b;
    U mask = (length >= width ? ~(U)0 : ((U)1 << length) - 1) << position;
    return (b & ~mask) | ((a << position) & mask);
}

template <class U> static inline u32 leading_zeros(U v) {
    return v ? (u32)__builtin_clzll((u64)v) - (64 - 8 * (u32)sizeof(U)) : 8 * (u32)sizeof(U);
}
template <class U> static inline U reversed(U v) {
    U r = 0;
    for (u32 k = 0; k < 8 * sizeof(U); k++) r |= (U)(v >> k & 1) << (8 * sizeof(U) - 1 - k);
    return r;
}
/* The place of the highest bit that is not the sign; ~0 where there is none */
template <class U> static inline u32 highest_bit(U v, bool is_signed, bool as_shift) {
    if (is_signed && (v >> (8 * sizeof(U) - 1))) v = (U)~v;
    if (!v) return ~0u;
    u32 place = 8 * (u32)sizeof(U) - 1 - leading_zeros(v);
    return as_shift ? 8 * (u32)sizeof(U) - 1 - place : place;
}

static inline u32 dot4(u32 a, u32 b, u32 c, bool a_signed, bool b_signed) {
    for (int k = 0; k < 4; k++) {
        s32 x = a_signed ? (s32)(s8)(a >> (8 * k)) : (s32)(u8)(a >> (8 * k));
        s32 y = b_signed ? (s32)(s8)(b >> (8 * k)) : (s32)(u8)(b >> (8 * k));
        c += (u32)(x * y);
    }
    return c;
}

/* Division by zero is not specified: all bits set, as the hardware gives it */
template <class I> static inline I quotient(I a, I b) {
    if (!b) return (I) ~(I)0;
    if ((I)-1 < (I)0 && b == (I)-1) return (I)(0 - (u64)a);
    return (I)(a / b);
}
template <class I> static inline I remainder_of(I a, I b) {
    if (!b) return a;
    if ((I)-1 < (I)0 && b == (I)-1) return 0;
    return (I)(a % b);
}
} // namespace ptx

#endif
