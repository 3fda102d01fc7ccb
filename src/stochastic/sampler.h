/* m ~ Bernoulli(p) from 128 uniform bits U: m = 1 where U < T, T = p 2^128 as an integer, so that P(m = 1) = T/2^128.

   law                      p            |T/2^128 - p|
   GV_NORMAL                Phi(x)       2^-89, and 2^-88 Phi(x) + 2^-126 for x <= -1
   GV_LOGISTIC              sigmoid(x)   2^-88, and 2^-88 sigmoid(x) + 2^-126 for x <= -1
   GV_CONSTANT              1 - rate     2^-128, 0 where rate 2^128 is an integer: every double rate >= 2^-75

   Proof    |T/2^128 - (hi + lo)| < 3 2^-128 (gv_threshold), and |hi + lo - p| <= err of math/normcdf.h and math/sigmoid.h,
            which is proved: 2^-88 of what is added to 1/2 (at most 0.342 and 0.232), of 1 - p, or of p.
   Speed    The first 32 bits of U decide all elements but one in some 2^32 (float32, |x| <= 4.5), 2^24 (float64) or 2^17
            (|x| > 4.5): an approximation of p with a bound gives the interval that T is in. It never decides otherwise
            than T does, so that results do not depend on it.
   Test     tests/stochastic/test_sampler.py: T against Arb, the quick decision against T at its edges, the device against
            the CPU bit for bit */
#ifndef GV_STOCHASTIC_SAMPLER_H
#define GV_STOCHASTIC_SAMPLER_H
#include "../math/normcdf.h"
#include "../math/sigmoid.h"
#include "philox.h"

#define GV_LANES 1
#define GV_HAVE_FMA 0
#define GV_TYPED(name) name##_stochastic
#include "../enclosure/enclosures.h"

enum { GV_NORMAL, GV_LOGISTIC, GV_CONSTANT };

typedef struct { uint64_t high, low; } gv_uint128;

/* floor(v 2^128), less or more by 2 at most, of 0 < v < 1 */
GV_INLINE gv_uint128 gv_threshold(gv_value v) {
    gv_uint128 none = {0, 0}, all = {~UINT64_C(0), ~UINT64_C(0)}, t;
    if (v.k < -200) return none;
    double scale = gv_power_of_two(v.k), hi = v.hi * scale, lo = v.lo * scale;
    if (hi >= 1.0 && lo > -0x1p-128) return all;
    hi *= 0x1p64;
    lo *= 0x1p64;
    double whole = floor(hi), rest = trunc(lo);
    uint64_t low = (uint64_t)((hi - whole) * 0x1p64), more = (uint64_t)(fabs(lo - rest) * 0x1p64);
    t.high = (whole < 0x1p64 ? (uint64_t)whole : 0) + (uint64_t)(int64_t)rest; /* 2^64 and a negative rest: wraps */
    if (lo >= 0.0) {
        t.low = low + more;
        t.high += t.low < low;
    } else {
        t.low = low - more;
        t.high -= low < more;
    }
    return t;
}

/* T of element x; `rate` for GV_CONSTANT, 0 <= rate <= 1 */
GV_CALLED gv_uint128 gv_keep_threshold(int law, double x, double rate) {
    gv_uint128 none = {0, 0}, all = {~UINT64_C(0), ~UINT64_C(0)};
    if (law == GV_CONSTANT) {
        if (rate <= 0.0) return all;
        if (rate >= 1.0) return none;
        gv_uint128 t = gv_threshold(gv_value_make(rate, 0.0, 0.0, 0));
        t.low = ~t.low + 1; /* 2^128 - t */
        t.high = ~t.high + (t.low == 0);
        return rate < 0x1p-128 ? all : t;
    }
    if (x == -HUGE_VAL) return none;
    if (!(x < HUGE_VAL)) return all; /* NaN too: it is never made a zero */
    if (x == 0.0) {
        gv_uint128 half = {UINT64_C(1) << 63, 0};
        return half;
    }
    return gv_threshold(law == GV_NORMAL ? gv_normcdf(x) : gv_sigmoid(x));
}

GV_INLINE int gv_keeps_exactly(int law, double x, double rate, gv_philox_block u) {
    gv_uint128 t = gv_keep_threshold(law, x, rate);
    uint64_t high = (uint64_t)u.word[0] << 32 | u.word[1], low = (uint64_t)u.word[2] << 32 | u.word[3];
    return high < t.high || (high == t.high && low < t.low);
}

/* p 2^32 within the error that is returned in *err; enclosures are for float32 numbers: beside one, by the largest slope */
GV_INLINE double gv_quick_threshold(int law, double x, double rate, double *err) {
    double near = (double)(float)x, apart = fabs(x - near);
    if (law == GV_NORMAL) {
        double a = gv_min(gv_max(near, -GV_NEAR_LIMIT), GV_NEAR_LIMIT);
        double w = gv_madd(a, a, -0.5 * GV_NEAR_LIMIT * GV_NEAR_LIMIT);
        double p = 0.5 + a * gv_polynomial(gv_near_gelu, GV_NEAR_GELU_DEGREE, w);
        /* beyond the limit p is between that of the limit and 0 or 1, 3.4e-6 away */
        *err = 0x1p-11 + (a == near ? apart * 0x1p31 : 0x1p14);
        return p * 0x1p32;
    }
    if (law == GV_LOGISTIC) {
        double e = gv_exp_long(gv_min(gv_max(-near, -500.0), 500.0));
        *err = 0x1p-8 + apart * 0x1p30;
        return 0x1p32 / (e + 1.0);
    }
    *err = 0x1p-20;
    return (1.0 - rate) * 0x1p32;
}

/* whether element x is kept: m */
GV_INLINE int gv_keeps(int law, double x, double rate, gv_philox_block u) {
    if (x != x) return 1;
    double err, t = gv_quick_threshold(law, x, rate, &err), first = (double)u.word[0];
    if (first + 1.0 <= t - err) return 1;
    if (first >= t + err) return 0;
    return gv_keeps_exactly(law, x, rate, u);
}

#endif
