/* Approximations, of which the PTX ISA gives a bound and no bits: the ends of the interval that the bound allows, or the
   value nearest to the exact one. An argument that the ISA lists with its result has that result.
   Source: PTX ISA 9.1, of which each bound has its section; compared on 2026-11-26 with a copy of that text in a public
   repository, and with an H100 (tools/approximations.cu, data/approximations): all results there that were tried are within
   these bounds, of which three are wider than the ISA's, and say so. What the ISA leaves open is assumed, and says so, too. An
   error in ulp is counted from the correctly rounded result, as the ISA does for ex2, and the CUDA programming guide
   everywhere. */
#ifndef GELU_VERIFY_PTX_APPROXIMATE_H
#define GELU_VERIFY_PTX_APPROXIMATE_H
#include "arithmetic.h"

#ifndef GELU_VERIFY_PTX_WIDTH /* of all intervals; 0: a test that nothing else differs between executions */
#define GELU_VERIFY_PTX_WIDTH 1
#endif

namespace ptx {
static inline f32 next_up(f32 v) { return __builtin_nextafterf(v, __builtin_inff()); }
static inline f32 next_down(f32 v) { return __builtin_nextafterf(v, -__builtin_inff()); }

enum { LOWEST = -1, NEAREST, HIGHEST, MIXED }; /* MIXED: one of the others, which one by a hash of the argument */

static inline s32 chosen(s32 which, u64 a, u64 b = 0) {
    if (which != MIXED) return which;
    u64 hash = (a + b * 0xd1342543de82ef95ull + 1) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
    return (s32)((hash >> 32) % 3) - 1;
}

static inline bool is_toward_zero(s32 which, f64 v) { return which < 0 ? v > 0.0 : v < 0.0; }

/* The float32 at an end of exact +- (relative*|exact| + absolute + ulps), which is inside of it */
static inline f32 bracketed(f64 exact, s32 which, f64 relative, f64 absolute = 0.0, int ulps = 0) {
    which *= GELU_VERIFY_PTX_WIDTH;
    f32 nearest = (f32)exact;
    if (exact != exact) return bits<f32>(0x7fffffffu);
    if (!which || (exact == 0.0 && absolute == 0.0) || !(fabs(exact) <= 1.7976931348623157e308)) return nearest;
    if (__builtin_isinf(nearest)) { /* it overflows: so does all that the bound allows, but for the last of them */
        f64 low = exact * (1.0 - relative - ulps * 0x1p-23);
        return is_toward_zero(which, exact) && fabs(low) <= 0x1.fffffep127 ? (f32)low : nearest;
    }
    f64 end = exact + which * (relative * fabs(exact) + absolute);
    f32 v = (f32)end;
    if (which < 0 ? (f64)v < end : (f64)v > end) v = which < 0 ? next_up(v) : next_down(v);
    if (which < 0 ? v > nearest : v < nearest) v = nearest;
    for (int k = 0; k < ulps; k++) v = which < 0 ? next_down(v) : next_up(v);
    return v;
}

/* 9.7.3.21: 2 ulp. That it is exact at whole numbers the ISA says of 0 alone. An H100 is, but at -127, where the result is
   subnormal and one less; CUDA's erf of doubles is made with it, and would lose half of its bits, where the CUDA
   programming guide has 2 ulp (17.1) */
static inline f32 ex2_approx(f32 a, s32 which) {
    if (a == __builtin_rintf(a) && a != -127.0f) which = NEAREST;
    f32 v = bracketed(__builtin_exp2((f64)a), which, 0.0, 0.0, 2);
    return v < 0.0f ? 0.0f : v;
}
/* 9.7.3.20: absolute error 2^-22 for a in (0.5, 2), else relative error 2^-22 */
static inline f32 lg2_approx(f32 a, s32 which) {
    f64 exact = __builtin_log2((f64)a);
    bool near = a > 0.5f && a < 2.0f;
    return bracketed(exact, which, near ? 0.0 : 0x1p-22, near ? 0x1p-22 : 0.0);
}
/* 9.7.3.18 and 19: absolute error 2^-20.5 for |a| <= 2 pi, of which an H100's cosine has 2^-20.49 and more; 2^-20.4 is
   assumed; 2^-14.7 for |a| <= 100 pi, none beyond: anything from -1 to 1 is assumed there, and nothing outside of these */
static inline f32 circular(f32 a, f64 exact, s32 which) {
    const f64 PI = 0x1.921fb54442d18p+1;
    f64 size = fabs((f64)a);
    f64 absolute = size <= 2 * PI ? 0x1.8406003b2ae63p-21 : size <= 100 * PI ? 0x1.3b2c47bff8329p-15 : 2.0;
    f32 v = bracketed(exact, which, 0.0, absolute);
    return v > 1.0f ? 1.0f : v < -1.0f ? -1.0f : v;
}
static inline f32 sin_approx(f32 a, s32 which) { return a == 0.0f ? a : circular(a, __builtin_sin((f64)a), which); }
static inline f32 cos_approx(f32 a, s32 which) { return a == 0.0f ? 1.0f : circular(a, __builtin_cos((f64)a), which); }
/* 9.7.3.13: 1 ulp */
static inline f32 rcp_approx(f32 a, s32 which) { return bracketed(1.0 / (f64)a, which, 0.0, 0.0, 1); }

/* What is common to 9.7.3.14 and 9.7.3.17: the upper half of a number in 32 bits, 20 of them after the point, of which the
   ISA gives no error: 2 units in the last of these bits are assumed. Subnormal results are zeros. */
static inline f64 upper_half(f64 a) { return bits<f64>(bits<u64>(a) & 0xffffffff00000000ull); }
static inline f64 in_upper_half(f64 exact, s32 which) {
    u64 nearest = (bits<u64>(exact) + 0x80000000ull) & 0xffffffff00000000ull;
    s64 units = (exact < 0.0 ? -2 : 2) * which * GELU_VERIFY_PTX_WIDTH;
    f64 v = bits<f64>(nearest + ((u64)units << 32));
    return fabs(v) < 0x1p-1022 ? __builtin_copysign(0.0, exact) : v;
}
/* 9.7.3.14 */
static inline f64 rcp_approx_ftz(f64 a, s32 which) {
    f64 upper = upper_half(a);
    if (upper != upper) return bits<f64>(0x7fffffff00000000ull);
    if (fabs(upper) < 0x1p-1022) return __builtin_copysign(__builtin_inf(), a);
    if (__builtin_isinf(upper)) return __builtin_copysign(0.0, a);
    return in_upper_half(1.0 / upper, which);
}
/* 9.7.3.17 */
static inline f64 rsqrt_approx_ftz(f64 a, s32 which) {
    f64 upper = upper_half(a);
    if (fabs(upper) < 0x1p-1022) return __builtin_copysign(__builtin_inf(), a);
    if (!(upper > 0.0)) return bits<f64>(0x7fffffff00000000ull);
    return __builtin_isinf(upper) ? 0.0 : in_upper_half(1.0 / __builtin_sqrt(upper), which);
}
/* 9.7.3.8: 2 ulp */
static inline f32 div_full(f32 a, f32 b, s32 which) { return bracketed((f64)a / (f64)b, which, 0.0, 0.0, 2); }
/* 9.7.3.8: 2 ulp for |b| in 2^-126 ... 2^126; above, 0, and NaN of an infinite a. Below the ISA says nothing: an H100 scales,
   and keeps to 2 ulp, also where 1/b is infinite */
static inline f32 div_approx(f32 a, f32 b, s32 which) {
    if (fabs(b) > 0x1p126 && !__builtin_isinf(b)) return a * __builtin_copysignf(0.0f, b);
    return div_full(a, b, which);
}
/* 9.7.3.15: relative error 2^-23 */
static inline f32 sqrt_approx(f32 a, s32 which) {
    return a == 0.0f ? a : bracketed(__builtin_sqrt((f64)a), which, 0x1p-23);
}
/* 9.7.3.16: relative error 2^-22.9 */
static inline f32 rsqrt_approx(f32 a, s32 which) {
    return a == 0.0f ? 1.0f / a : bracketed(1.0 / __builtin_sqrt((f64)a), which, 0x1.125fbee250664p-23 /* 2^-22.9 */);
}
/* 9.7.3.22: relative error 2^-11; subnormal numbers pass through. That it is never above 1 the ISA does not say: it is
   assumed */
static inline f32 tanh_approx(f32 a, s32 which) {
    if (__builtin_isinf(a)) return __builtin_copysignf(1.0f, a);
    if (fabs(a) < 0x1p-126f) return a;
    f32 v = bracketed(__builtin_tanh((f64)a), which, 0x1p-11);
    return v > 1.0f ? 1.0f : v < -1.0f ? -1.0f : v;
}

/* 9.7.4.9 and 10: the same in 16 bits, of the value at x; exact where x is 0 or infinite, and where the result is 0, infinite
   or NaN. A subnormal result may be one less or more, beyond the relative error that the ISA has: an H100 truncates */
template <class Format> static inline u16 half_bracketed(f64 exact, f64 x, s32 which, f64 relative, f64 absolute) {
    u16 nearest = narrowed<Format>(exact);
    which *= GELU_VERIFY_PTX_WIDTH;
    if (!which || exact == 0.0 || x == 0.0 || __builtin_isinf(x)) return nearest;
    if (!(fabs(exact) <= 1.7976931348623157e308)) return nearest;
    f64 least = widened<Format>(1), smallest = least * (1 << (Format::PRECISION - 1));
    if (fabs(exact) < smallest) absolute = absolute > least ? absolute : least;
    f64 end = exact + which * (relative * fabs(exact) + absolute);
    u16 v = narrowed<Format>(end, which < 0 ? RP : RM);
    f64 got = widened<Format>(v), middle = widened<Format>(nearest);
    return (which < 0 ? got > middle : got < middle) ? nearest : v;
}
template <class Format> struct half_bounds;
template <> struct half_bounds<f16_format> {
    static constexpr f64 EX2 = 0x1.125fbee250663p-10 /* 2^-9.9 */, TANH = 0x1.0251353756991p-11 /* 2^-10.987 */;
};
template <> struct half_bounds<bf16_format> { /* of an H100's tanh, at 0.746, 1.00007 times the 2^-8 of the ISA */
    static constexpr f64 EX2 = 0x1p-7, TANH = 0x1.0006p-8;
};
template <class Format> static inline u16 ex2_half(u16 x, s32 which) {
    f64 a = widened<Format>(x);
    return half_bracketed<Format>(__builtin_exp2(a), a, which, half_bounds<Format>::EX2, 0.0);
}
template <class Format> static inline u16 tanh_half(u16 x, s32 which) {
    f64 a = widened<Format>(x);
    return half_bracketed<Format>(__builtin_tanh(a), a, which, 0.0, half_bounds<Format>::TANH);
}
} // namespace ptx

#endif
