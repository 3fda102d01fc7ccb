/* Approximations, of which the PTX ISA gives a bound and no bits: the ends of the interval that the bound allows, or the
   value nearest to the exact one. An argument that the ISA lists with its result has that result.
   Source: PTX ISA, sections 9.7.3 and 9.7.4. The bounds were compared on 2026-11-22 with copies of that text in public
   repositories, not with NVIDIA's page and not with a GPU: to be checked there
   (https://docs.nvidia.com/cuda/parallel-thread-execution/). */
#ifndef GELU_VERIFY_PTX_APPROXIMATE_H
#define GELU_VERIFY_PTX_APPROXIMATE_H
#include "arithmetic.h"

namespace ptx {
static inline f32 next_up(f32 v) { return __builtin_nextafterf(v, __builtin_inff()); }
static inline f32 next_down(f32 v) { return __builtin_nextafterf(v, -__builtin_inff()); }

static inline bool is_toward_zero(s32 which, f64 v) { return which < 0 ? v > 0.0 : v < 0.0; }

/* The float32 at an end of exact +- (relative*|exact| + absolute + ulps), which is inside of it */
static inline f32 bracketed(f64 exact, s32 which, f64 relative, f64 absolute = 0.0, int ulps = 0) {
    f32 nearest = (f32)exact;
    if (exact != exact) return bits<f32>(0x7fffffffu);
    if (!which || (exact == 0.0 && absolute == 0.0) || !(fabs(exact) <= 1.7976931348623157e308)) return nearest;
    if (fabs(nearest) > 3.4028234e38f) { /* it overflows: so does all that the bound allows, but for the last of them */
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

/* 2 ulp from the correctly rounded result */
static inline f32 ex2_approx(f32 a, s32 which) {
    if (a == 0.0f) return 1.0f;
    f32 v = bracketed(__builtin_exp2((f64)a), which, 0.0, 0.0, 2);
    return v < 0.0f ? 0.0f : v;
}
/* absolute error 2^-22 for a in (0.5, 2), else relative error 2^-22 */
static inline f32 lg2_approx(f32 a, s32 which) {
    f64 exact = __builtin_log2((f64)a);
    bool near = a > 0.5f && a < 2.0f;
    return bracketed(exact, which, near ? 0.0 : 0x1p-22, near ? 0x1p-22 : 0.0);
}
/* 1 ulp */
static inline f32 rcp_approx(f32 a, s32 which) { return bracketed(1.0 / (f64)a, which, 0.0, 0.0, 1); }
/* Of the upper 32 bits, in 32 bits: 20 after the point. The ISA has the steps and no error: 2 units in the last of those
   bits are assumed. Subnormal arguments and results are zeros. */
static inline f64 rcp_approx(f64 a, s32 which) {
    if (a != a) return bits<f64>((u64)0x7fffffff00000000);
    f64 upper = bits<f64>(bits<u64>(a) & (u64)0xffffffff00000000);
    if (fabs(upper) < 0x1p-1022) return __builtin_copysign(__builtin_inf(), a);
    if (__builtin_isinf(upper)) return __builtin_copysign(0.0, a);
    u64 nearest = (bits<u64>(1.0 / upper) + (u64)0x80000000) & (u64)0xffffffff00000000;
    f64 v = bits<f64>(nearest + (u64)(s64)(a < 0.0 ? -2 * which : 2 * which) * ((u64)1 << 32));
    return fabs(v) < 0x1p-1022 ? __builtin_copysign(0.0, a) : v;
}
/* 2 ulp */
static inline f32 div_full(f32 a, f32 b, s32 which) { return bracketed((f64)a / (f64)b, which, 0.0, 0.0, 2); }
/* 2 ulp for |b| in 2^-126 ... 2^126. Above: 0, and NaN of an infinite a. Below, the ISA gives no bound: 2 ulp is ours. */
static inline f32 div_approx(f32 a, f32 b, s32 which) {
    if (fabs(b) > 0x1p126 && !__builtin_isinf(b)) return a * __builtin_copysignf(0.0f, b);
    return div_full(a, b, which);
}
/* relative error 2^-23 */
static inline f32 sqrt_approx(f32 a, s32 which) {
    return a == 0.0f ? a : bracketed(__builtin_sqrt((f64)a), which, 0x1p-23);
}
/* relative error 2^-22.9 */
static inline f32 rsqrt_approx(f32 a, s32 which) {
    return a == 0.0f ? 1.0f / a : bracketed(1.0 / __builtin_sqrt((f64)a), which, 0x1.125fbee250665p-23 /* 2^-22.9 */);
}
/* relative error 2^-11; that it is never above 1 the ISA does not say: it is assumed */
static inline f32 tanh_approx(f32 a, s32 which) {
    if (__builtin_isinf(a)) return __builtin_copysignf(1.0f, a);
    f32 v = bracketed(__builtin_tanh((f64)a), which, 0x1p-11);
    return v > 1.0f ? 1.0f : v < -1.0f ? -1.0f : v;
}

/* The same in 16 bits, of the value at x; exact where x is 0 or infinite, and where the result is 0, infinite or NaN */
template <class Format> static inline u16 half_bracketed(f64 exact, f64 x, s32 which, f64 relative, f64 absolute) {
    u16 nearest = narrowed<Format>(exact);
    if (!which || exact == 0.0 || x == 0.0 || __builtin_isinf(x)) return nearest;
    if (!(fabs(exact) <= 1.7976931348623157e308)) return nearest;
    f64 end = exact + which * (relative * fabs(exact) + absolute);
    u16 v = narrowed<Format>(end, which < 0 ? RP : RM);
    f64 got = widened<Format>(v), middle = widened<Format>(nearest);
    return (which < 0 ? got > middle : got < middle) ? nearest : v;
}
} // namespace ptx

#endif
