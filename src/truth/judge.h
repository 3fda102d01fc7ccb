/* The definition of judging. y = f(x) is exact, enclosed as hi + lo within err (value.h); got is what an implementation
   returned.

   u(y)      2^(max(floor(log2 |y|), emin) - p + 1), the unit in the last place of the exact y; u(0) = 2^(emin - p + 1);
             a y that overflows counts as 2^(emax + 1), in units of the last binade
   want      y rounded to nearest, ties to even, subnormals kept; NaN outside of the domain
   error     (got - y)/u(y), signed, fractional; NaN where x is not finite. For a finite x and got = inf or NaN: 0 where
             want is that infinity, that of 2^(emax + 1) where y lies beyond the largest number, else inf. Outside of the domain, and at a pole: inf where got is not the NaN or the
             infinity that is due, else NaN or 0
   faithful  no other number of the format lies between got and y. Where x is not finite, outside of the domain, and at
             a pole: got is what is due; any NaN serves for NaN
   decided   err is small enough for want and for the side of every number on which y lies. Where it is not, y is
             evaluated again with a smaller err: in double, in double-double, by the oracle

   Here: y = (n + f + l) u(y) within er u(y), with h = hi/u(y), n = rint(h), f = h - n exactly and l = lo/u(y).

   Proof     docs/proofs.md, section 5
   Test      tests/truth/test_values.py, against judge_exactly of gelu_verify/truth/oracle.py, which has the same
             definition in integers of any length and answers where nothing decides
   Used by   truth/core.h over arrays, for judge of gelu_verify/truth/values.py. src/buckets and src/cuda do the same
             operations without branches, over strips of inputs, and come to gv_judge_one with what that leaves
             undecided; there an error below 2^-17 counts as 0. Tests: tests/buckets/test_reducer.py,
             tests/measure/test_gpu_judge.py */
#ifndef GV_TRUTH_JUDGE_H
#define GV_TRUTH_JUDGE_H
#include <float.h>
#include "value.h"

typedef struct { int width, precision, emin, emax; } gv_format;

typedef struct {
    int64_t n; /* rint(hi/u): l may still move y across a midpoint */
    double f, l, er; /* |f| <= 1/2 */
    int ue, negative, binade_decided; /* u = 2^ue */
} gv_units;

GV_INLINE gv_units gv_in_units(gv_value v, const gv_format *fmt) {
    gv_units u;
    u.negative = v.hi < 0.0;
    double hi = fabs(v.hi), lo = u.negative ? -v.lo : v.lo;
    int e = gv_exponent(hi);
    /* the exact y may lie in a neighbouring binade: no matter where the unit is the same, or both overflow */
    double above_edge = (hi - gv_power_of_two(e)) + lo, below_edge = (gv_power_of_two(e + 1) - hi) - lo;
    int overflows = e + v.k > fmt->emax + 1;
    u.binade_decided = (fabs(above_edge) >= v.err || e + v.k <= fmt->emin || overflows) &&
                       (below_edge >= v.err || e + v.k < fmt->emin || overflows);
    e -= above_edge < 0.0;
    e += v.k;
    if (e > fmt->emax) { /* counts as 2^(emax+1), in units of the last binade */
        u.n = INT64_C(1) << fmt->precision;
        u.f = u.l = u.er = 0.0;
        u.ue = fmt->emax - fmt->precision + 1;
        return u;
    }
    u.ue = (e > fmt->emin ? e : fmt->emin) - fmt->precision + 1;
    int shift = v.k - u.ue;
    double scale = gv_power_of_two(shift < -1000 ? -1000 : shift > 1000 ? 1000 : shift);
    double h = hi * scale, n = rint(h);
    u.n = (int64_t)n;
    u.f = h - n;
    u.l = lo * scale;
    u.er = v.err * scale;
    return u;
}

/* Round to nearest, ties to even: 1 and the bits, or 0 when the bound does not decide. */
GV_INLINE int gv_round(const gv_units *u, const gv_format *fmt, uint64_t infinity, uint64_t *bits) {
    double up = (u->f - 0.5) + u->l, down = (u->f + 0.5) + u->l;
    int64_t n = u->n + (up > 0.0) - (down < 0.0);
    int min_exponent = fmt->emin - fmt->precision + 1;
    uint64_t magnitude = (uint64_t)n;
    if (n >> (fmt->precision - 1)) magnitude += (uint64_t)(u->ue - min_exponent) << (fmt->precision - 1);
    if (magnitude > infinity) magnitude = infinity;
    *bits = magnitude | (uint64_t)u->negative << (fmt->width - 1);
    return u->binade_decided && fabs(up) >= u->er && fabs(down) >= u->er;
}

/* Whether the bound decides on which side of a number of the format the value lies. */
GV_INLINE int gv_sides_decided(const gv_units *u) { return fabs(u->f + u->l) >= u->er; }

/* Whether the bound decides the rounding too. */
GV_INLINE int gv_is_decided(gv_value v, const gv_format *fmt) {
    uint64_t bits;
    if (v.hi == 0.0 || v.hi != v.hi) return 1;
    gv_units u = gv_in_units(v, fmt);
    return gv_round(&u, fmt, UINT64_MAX, &bits) && gv_sides_decided(&u);
}

/* got 2^-exponent, with one rounding at most and no overflow */
GV_INLINE double gv_scale_down(double got, int exponent) {
    int half = exponent / 2;
    double scaled = got * gv_power_of_two(-half) * gv_power_of_two(half - exponent);
    return scaled > DBL_MAX ? DBL_MAX : scaled < -DBL_MAX ? -DBL_MAX : scaled;
}

/* (got - y)/u(y), and whether no other number of the format lies between got and y; g: got in units, with the sign of y */
GV_INLINE double gv_error_in_units(const gv_units *u, double g, int *faithful) {
    double rest = u->f != 0.0 ? u->f : u->l; /* its sign: on which side of n the value lies */
    double below = (double)(u->n - (rest < 0.0));
    *faithful = g == below || (g == below + 1.0 && rest != 0.0);
    double error = ((g - (double)u->n) - u->f) - u->l;
    return u->negative ? -error : error;
}

GV_INLINE double gv_error(const gv_units *u, double got, int *faithful) {
    return gv_error_in_units(u, gv_scale_down(u->negative ? -got : got, u->ue), faithful);
}

#define GV_DECIDED 1
#define GV_FAITHFUL 2

/* want, error, and the flags of one output `got`. limits: bits required at NaN, -inf, +inf, -0, +0, and those of +inf
   as a number; at_zero: the value at +-0, infinite at a pole. */
GV_INLINE unsigned char gv_judge_one(gv_value v, double x, uint64_t got_bits, double got, const gv_format *fmt,
                                     const uint64_t *limits, double at_zero, uint64_t *want, double *error) {
    uint64_t infinity = limits[5], magnitude = got_bits & ~(UINT64_C(1) << (fmt->width - 1));
    int faithful = 0, decided = 1;
    gv_units u = {0, 0.0, 0.0, 0.0, fmt->emin - fmt->precision + 1, 0, 1};
    if (x != x || fabs(x) > DBL_MAX) {
        *want = limits[x != x ? 0 : x < 0.0 ? 1 : 2];
        *error = NAN;
        faithful = *want == limits[0] ? magnitude > infinity : got_bits == *want;
        return GV_DECIDED | (faithful ? GV_FAITHFUL : 0);
    }
    if (x == 0.0) v = gv_exact(at_zero);
    if (v.hi != v.hi || fabs(v.hi) > DBL_MAX) { /* not defined; a pole */
        *want = v.hi != v.hi ? limits[0] : infinity | (uint64_t)(v.hi < 0.0) << (fmt->width - 1);
        faithful = v.hi != v.hi ? magnitude > infinity : got_bits == *want;
        *error = !faithful ? INFINITY : v.hi != v.hi ? NAN : 0.0;
        return GV_DECIDED | (faithful ? GV_FAITHFUL : 0);
    }
    if (v.hi != 0.0) {
        u = gv_in_units(v, fmt);
        decided = gv_round(&u, fmt, infinity, want) && gv_sides_decided(&u);
    } else {
        *want = (uint64_t)(signbit(v.hi) != 0) << (fmt->width - 1);
    }
    if (x == 0.0) *want = limits[signbit(x) ? 3 : 4];
    if (magnitude >= infinity) {
        if (magnitude == infinity && got_bits == *want + 1) { /* it is beside a y beyond the largest number */
            *error = gv_error_in_units(&u, gv_power_of_two(fmt->precision), &faithful);
        } else {
            faithful = magnitude == infinity && got_bits == *want;
            *error = 0.0;
        }
        if (!faithful) *error = INFINITY;
    } else {
        *error = gv_error(&u, got, &faithful);
        if (magnitude + 1 == infinity && got_bits + 1 == *want) faithful = 1; /* y beyond the largest number */
    }
    return (decided ? GV_DECIDED : 0) | (faithful ? GV_FAITHFUL : 0);
}

GV_INLINE double gv_decode(uint64_t bits, const gv_format *fmt) {
    if (fmt->width == 64) return gv_from_bits(bits);
    uint64_t magnitude = bits & ((UINT64_C(1) << (fmt->width - 1)) - 1);
    uint64_t significand = magnitude & ((UINT64_C(1) << (fmt->precision - 1)) - 1);
    int field = (int)(magnitude >> (fmt->precision - 1)), min_exponent = fmt->emin - fmt->precision + 1;
    int negative = (int)(bits >> (fmt->width - 1));
    double value;
    if (field > fmt->emax - fmt->emin + 1) value = significand ? NAN : INFINITY;
    else if (field == 0) value = (double)significand * gv_power_of_two(min_exponent);
    else
        value = (double)(significand | UINT64_C(1) << (fmt->precision - 1)) * gv_power_of_two(min_exponent + field - 1);
    return negative ? -value : value;
}

#endif
