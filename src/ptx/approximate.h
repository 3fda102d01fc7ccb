/* Approximations, of which the PTX ISA gives a bound and no bits: the ends of the interval that the bound allows, or the
   value nearest to the exact one. An argument, or a result, that the ISA lists as exact has that result. */
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
    if (!which || exact == 0.0 || !(fabs(exact) <= 1.7976931348623157e308)) return nearest;
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

/* PTX ISA: relative error 2^-22.5, for the ISA's later editions 2 ulp, which is the wider one where they differ */
static inline f32 ex2_approx(f32 a, s32 which) {
    if (a == 0.0f) return 1.0f;
    f32 v = bracketed(__builtin_exp2((f64)a), which, 0.0, 0.0, 2);
    return v < 0.0f ? 0.0f : v;
}
/* absolute error 2^-22 where the result is small (a in 0.5 ... 2), else relative error 2^-22 */
static inline f32 lg2_approx(f32 a, s32 which) {
    f64 exact = __builtin_log2((f64)a);
    bool near = a > 0.5f && a < 2.0f;
    return bracketed(exact, which, near ? 0.0 : 0x1p-22, near ? 0x1p-22 : 0.0);
}
/* 1 ulp */
static inline f32 rcp_approx(f32 a, s32 which) { return bracketed(1.0 / (f64)a, which, 0.0, 0.0, 1); }
/* 2 ulp (div.full; div.approx: where |b| is within 2^-126 ... 2^126) */
static inline f32 div_approx(f32 a, f32 b, s32 which) { return bracketed((f64)a / (f64)b, which, 0.0, 0.0, 2); }
/* relative error 2^-23 */
static inline f32 sqrt_approx(f32 a, s32 which) {
    return a == 0.0f ? a : bracketed(__builtin_sqrt((f64)a), which, 0x1p-23);
}
/* relative error 2^-22.9 */
static inline f32 rsqrt_approx(f32 a, s32 which) {
    return a == 0.0f ? 1.0f / a : bracketed(1.0 / __builtin_sqrt((f64)a), which, 1.2777e-7);
}
/* relative error 2^-11, and no more than 1 */
static inline f32 tanh_approx(f32 a, s32 which) {
    f32 v = bracketed(__builtin_tanh((f64)a), which, 0x1p-11);
    return v > 1.0f ? 1.0f : v < -1.0f ? -1.0f : v;
}

/* The same in 16 bits, of the value at x; exact at 0 and where the result is 0, infinite or NaN */
template <class Format> static inline u16 half_bracketed(f64 exact, f64 x, s32 which, f64 relative, f64 absolute) {
    u16 nearest = narrowed<Format>(exact);
    if (!which || exact == 0.0 || x == 0.0 || !(fabs(exact) <= 1.7976931348623157e308)) return nearest;
    f64 end = exact + which * (relative * fabs(exact) + absolute);
    u16 v = narrowed<Format>(end, which < 0 ? RP : RM);
    f64 got = widened<Format>(v), middle = widened<Format>(nearest);
    return (which < 0 ? got > middle : got < middle) ? nearest : v;
}
} // namespace ptx

#endif
