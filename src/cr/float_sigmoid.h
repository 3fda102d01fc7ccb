/* Correctly rounded float32: stage 1 of float32.h for silu, gelu_sigmoid and their gradients where there are vectors
   with fma, for every x. float32 operations alone.

   e = e^-s, s = rate x, 1.702 = rate + rate_low:   f(x) = x/(1 + e),   f'(x) = q (1 + s p), q = 1/(1 + e), p = 1 - q

   As sums of two floats, u = 2^-24, |x| <= most:
     n              the integer nearest to -k s/log(2), k = 16 or 8, rounded once by fma: 2^(n/k) = T 2^(n div k), T from
                    a table
     r              -n step - x, step = log(2)/k/rate in 24 bits: nothing is lost, both are multiples of one ulp
     rest           what step, T and rate lack, relative to e: below 2^-21
     c              (e^r - 1 - r)/r^2, |r| <= log(2)/2k: r^2 c loses 3/2 u r^2
     e.hi, e.lo     T + T p, p = r + r^2 c as two floats; the second one is added to rest; + e.hi rest
     d.hi, d.lo     1 + e, the larger first (Dekker)
     q              1/d.hi rounded
     y = hi         x q rounded; lo = (x - y d.hi - y d.lo) q
   In f' q is a sum of two floats in the same way, p = 1 - q, 1 + s p by the sum of Knuth, and a product.

   Where y + (lo + loss) and y + (lo - loss) round to one float, that is the result, rounding being monotone. `loss` is
   relative, and 2^-130 more, which exceeds all underflows: no result below 2^-107 is decided. Nor is a NaN, nor |x| >=
   most: there e has the bits of an infinity or of a NaN, and lo is a NaN.

   Bounds     of e and of what follows: tests/prove/test_float32_sigmoid.py (docs/proofs.md, section 11)
   Results    = 0 of 2^32 inputs wrong: test_all_inputs of tests/truth/test_float32_kernels.py
   Model      one lane in portable C gives the same bits and the same undecided lanes:
              test_the_lanes_agree_with_their_model of tests/truth/test_float_pieces.py
   Table      ../tables/exp_f32.h, written by tools/make_float32_tables.py */
#ifndef GV_CR_FLOAT_SIGMOID_H
#define GV_CR_FLOAT_SIGMOID_H
#include "float_lanes.h"
#include "../tables/exp_f32.h"

#if GV_EXP_BITS == 4
#define GV_FLOAT_SIGMOID_LOSS 0x1.28p-34f /* of f, relative; of f', of |f'| + q */
#else
#define GV_FLOAT_SIGMOID_LOSS 0x1.5ap-32f
#endif
#define GV_FLOAT_SIGMOID_LEAST 0x1p-130f /* loss */

/* hi + lo within `loss`: up = lo + loss, down = lo - loss */
typedef struct { gv_floats hi, up, down; } gv_floats_bounds;

GV_INLINE gv_floats_bounds gv_float_within(gv_floats hi, gv_floats lo, gv_floats loss) {
    gv_floats_bounds y = {hi, gv_floats_add(lo, loss), gv_floats_sub(lo, loss)};
    return y;
}

/* (e^r - 1 - r)/r^2 */
GV_INLINE gv_floats gv_float_exp_curve(gv_floats r, gv_floats r2) {
#if GV_EXP_BITS == 4 /* the nearest of this degree */
    (void)r2;
    return gv_floats_madd(gv_floats_madd_all(r, 0x1.55576ap-5f, 0x1.55572p-3f), r, gv_floats_all(0.5f));
#else /* Taylor's */
    return gv_floats_madd(gv_floats_madd_all(r, 0x1.111112p-7f /* 1/120 */, 0x1.555556p-5f /* 1/24 */), r2,
                          gv_floats_madd_all(r, 0x1.555556p-3f /* 1/6 */, 0.5f));
#endif
}

/* t e^(r + rest), t a power of 2^(1/k) */
typedef struct { gv_floats t, r, rest; } gv_float_reduced;

GV_INLINE gv_floats_pair gv_float_exp(gv_float_reduced of) {
    gv_floats_pair e;
    gv_floats r2 = gv_floats_mul(of.r, of.r), c = gv_float_exp_curve(of.r, r2);
    gv_floats p = gv_floats_madd(c, r2, of.r), p_low = gv_floats_madd(c, r2, gv_floats_sub(of.r, p));
    e.hi = gv_floats_madd(of.t, p, of.t);
    e.lo = gv_floats_madd(of.t, p, gv_floats_sub(of.t, e.hi));
    e.lo = gv_floats_madd(e.hi, gv_floats_add(of.rest, p_low), e.lo);
    return e;
}

/* of e^-s, |x| <= most */
GV_INLINE gv_float_reduced gv_float_reduce(const gv_float_rate *s, gv_floats x) {
    gv_floats steps = gv_floats_madd_all(x, s->steps_per_unit, 0x1.8p23f); /* 3/2 2^23 + n */
    gv_floats minus_n = gv_floats_sub(gv_floats_all(0x1.8p23f), steps);
    gv_floats r = gv_floats_msub(minus_n, gv_floats_all(s->step), x);
    gv_floats rest = gv_floats_madd(minus_n, gv_floats_all(s->step_low), gv_floats_of_steps(gv_float_exp2_rest, steps));
    if (s->rate != 1.0f) {
        gv_floats product = gv_floats_mul(r, gv_floats_all(s->rate));
        rest = gv_floats_madd(r, gv_floats_all(s->rate_low), rest);
        rest = gv_floats_add(rest, gv_floats_msub(r, gv_floats_all(s->rate), product));
        r = product;
    }
    gv_float_reduced of = {gv_floats_scaled(gv_floats_of_steps(gv_float_exp2, steps), steps), r, rest};
    return of;
}

/* of GV_FLOAT_LANES x; what is beyond has a NaN or an infinity as e */
GV_INLINE gv_float_reduced gv_float_sigmoid_reduce(const gv_float_rate *s, const float *x) {
    return gv_float_reduce(s, gv_floats_clamped(gv_floats_load(x), s->most));
}

/* d = 1 + e, and q = 1/d.hi */
typedef struct {
    gv_floats_pair d;
    gv_floats q;
} gv_float_divisor;

GV_INLINE gv_float_divisor gv_float_one_plus(gv_floats_pair e) {
    gv_floats one = gv_floats_all(1.0f), more = gv_floats_larger(one, e.hi), less = gv_floats_smaller(one, e.hi);
    gv_floats_pair d;
    d.hi = gv_floats_add(more, less);
    d.lo = gv_floats_add(gv_floats_add(gv_floats_sub(more, d.hi), less), e.lo);
    gv_float_divisor by = {d, gv_floats_over(one, d.hi)};
    return by;
}

/* x/d, y its first part: the second one */
GV_INLINE gv_floats gv_float_quotient_low(gv_floats x, gv_float_divisor by, gv_floats y) {
    return gv_floats_mul(gv_floats_less(y, by.d.lo, gv_floats_less(y, by.d.hi, x)), by.q);
}

GV_INLINE gv_floats_bounds gv_float_sigmoid_value(gv_floats x, gv_float_divisor by) {
    gv_floats y = gv_floats_mul(x, by.q), lo = gv_float_quotient_low(x, by, y);
    return gv_float_within(y, lo,
                           gv_floats_madd(gv_floats_magnitude(y), gv_floats_all(GV_FLOAT_SIGMOID_LOSS),
                                          gv_floats_all(GV_FLOAT_SIGMOID_LEAST)));
}

/* q (1 + s p), |x| <= most */
GV_INLINE gv_floats_bounds gv_float_sigmoid_slope(const gv_float_rate *s, gv_floats x, gv_float_divisor by) {
    gv_floats one = gv_floats_all(1.0f);
    gv_floats_pair q = {by.q, gv_float_quotient_low(one, by, by.q)};
    gv_floats p = gv_floats_sub(one, q.hi);
    gv_floats p_low = gv_floats_sub(gv_floats_sub(gv_floats_sub(one, p), q.hi), q.lo);
    gv_floats steep = s->rate == 1.0f ? x : gv_floats_mul(x, gv_floats_all(s->rate)), more = gv_floats_mul(steep, p);
    gv_floats more_low = gv_floats_madd(steep, p_low, gv_floats_msub(steep, p, more));
    if (s->rate != 1.0f) {
        gv_floats steep_low = gv_floats_msub(x, gv_floats_all(s->rate), steep);
        steep_low = gv_floats_madd(x, gv_floats_all(s->rate_low), steep_low);
        more_low = gv_floats_madd(steep_low, p, more_low);
    }
    gv_floats sum = gv_floats_add(one, more), part = gv_floats_sub(sum, one);
    gv_floats lost = gv_floats_add(gv_floats_sub(one, gv_floats_sub(sum, part)), gv_floats_sub(more, part));
    gv_floats sum_low = gv_floats_add(lost, more_low);
    gv_floats y = gv_floats_mul(q.hi, sum);
    gv_floats lo = gv_floats_madd(q.lo, sum, gv_floats_madd(q.hi, sum_low, gv_floats_msub(q.hi, sum, y)));
    return gv_float_within(y, lo,
                           gv_floats_madd(gv_floats_add(gv_floats_magnitude(y), q.hi),
                                          gv_floats_all(GV_FLOAT_SIGMOID_LOSS), gv_floats_all(GV_FLOAT_SIGMOID_LEAST)));
}

/* y, and as the result bit i: lane i is not decided */
GV_INLINE uint32_t gv_float_sigmoid(const gv_float_rate *s, int derivative, gv_floats x, gv_float_divisor by,
                                    float *y) {
    gv_floats_bounds f = derivative ? gv_float_sigmoid_slope(s, x, by) : gv_float_sigmoid_value(x, by);
    return gv_floats_store_and_compare(y, gv_floats_add(f.hi, f.up), gv_floats_add(f.hi, f.down));
}

#endif
