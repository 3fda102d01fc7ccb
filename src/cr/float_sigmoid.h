/* Correctly rounded float32: stage 1 of float32.h for silu, gelu_sigmoid and their gradients where there are vectors
   with fma, for every x. float32 operations alone.

   e = e^-s, s = rate x, 1.702 = rate + rate_low:   f(x) = x/(1 + e),   f'(x) = q (1 + s p), q = 1/(1 + e), p = 1 - q

   As sums of two floats, u = 2^-24, |x| <= most:
     n              the integer nearest to -8 s/log(2), rounded once by fma: 2^(n/8) = T 2^(n div 8), T from a table
     r              -n step - x, step = log(2)/8/rate in 24 bits: nothing is lost, both are multiples of one ulp
     rest           what step, T and rate lack, relative to e: below 2^-21
     c              (e^r - 1 - r)/r^2 by Taylor's series, |r| <= log(2)/16: r^2 c loses 3/2 u r^2, which is all that counts
     e.hi, e.lo     T + T p, p = r + r^2 c as two floats; + e.hi rest
     d.hi, d.lo     1 + e, the larger first (Dekker)
     q              1/d.hi rounded
     y = hi         x q rounded; lo = (x - y d.hi - y d.lo) q
   In f' q is a sum of two floats in the same way, p = 1 - q, 1 + s p by the sum of Knuth, and a product.

   Where y + (lo + loss) and y + (lo - loss) round to one float, that is the result, rounding being monotone.
   A NaN is never decided; no more is |x| > most, or in f |x| < 2^-90, where a sum of two floats would underflow.

   Bounds     of e and of what follows: tests/prove/test_float32_sigmoid.py (docs/proofs.md, section 11)
   Results    = 0 of 2^32 inputs wrong: test_all_inputs of tests/truth/test_float32_kernels.py
   Model      one lane in portable C gives the same bits and the same undecided lanes:
              test_the_lanes_agree_with_their_model of tests/truth/test_float_pieces.py
   Table      ../tables/exp_f32.h, written by tools/make_float32_tables.py */
#ifndef GV_CR_FLOAT_SIGMOID_H
#define GV_CR_FLOAT_SIGMOID_H
#include "float_lanes.h"
#include "../tables/exp_f32.h"

#define GV_FLOAT_SIGMOID_LEAST 0x1p-90f
#define GV_FLOAT_SIGMOID_LOSS 0x1.a8p-33f /* of f, relative; of f', of |f'| + q */

/* hi + lo within `loss`: up = lo + loss, down = lo - loss, or the other way round */
typedef struct { gv_floats hi, up, down; } gv_floats_bounds;

/* (e^r - 1 - r)/r^2 */
GV_INLINE gv_floats gv_float_exp_curve(gv_floats r, gv_floats r2) {
    return gv_floats_madd(gv_floats_madd_all(r, 0x1.111112p-7f /* 1/120 */, 0x1.555556p-5f /* 1/24 */), r2,
                          gv_floats_madd_all(r, 0x1.555556p-3f /* 1/6 */, 0.5f));
}

/* 2^(n/8) e^(r + rest), n in the last bits of `steps` */
GV_INLINE gv_floats_pair gv_float_exp_reduced(gv_floats steps, gv_floats r, gv_floats rest) {
    gv_floats_pair e;
    gv_floats t = gv_floats_scaled(gv_floats_of_eight(gv_float_exp2, steps), steps);
    gv_floats r2 = gv_floats_mul(r, r), c = gv_float_exp_curve(r, r2);
    gv_floats p = gv_floats_madd(c, r2, r), p_low = gv_floats_madd(c, r2, gv_floats_sub(r, p));
    e.hi = gv_floats_madd(t, p, t);
    e.lo = gv_floats_madd(t, p, gv_floats_sub(t, e.hi));
    e.lo = gv_floats_madd(e.hi, rest, gv_floats_madd(t, p_low, e.lo));
    return e;
}

/* e^-s, |x| <= most */
GV_INLINE gv_floats_pair gv_float_exp(const gv_float_rate *s, gv_floats x) {
    gv_floats steps = gv_floats_madd_all(x, s->steps_per_unit, 0x1.8p23f); /* 3/2 2^23 + n */
    gv_floats minus_n = gv_floats_sub(gv_floats_all(0x1.8p23f), steps);
    gv_floats r = gv_floats_msub(minus_n, gv_floats_all(s->step), x);
    gv_floats rest = gv_floats_madd(minus_n, gv_floats_all(s->step_low), gv_floats_of_eight(gv_float_exp2_rest, steps));
    if (s->rate != 1.0f) {
        gv_floats product = gv_floats_mul(r, gv_floats_all(s->rate));
        rest = gv_floats_madd(r, gv_floats_all(s->rate_low), rest);
        rest = gv_floats_add(rest, gv_floats_msub(r, gv_floats_all(s->rate), product));
        r = product;
    }
    return gv_float_exp_reduced(steps, r, rest);
}

GV_INLINE gv_floats_pair gv_float_one_plus(gv_floats_pair e) {
    gv_floats one = gv_floats_all(1.0f), more = gv_floats_larger(one, e.hi), less = gv_floats_smaller(one, e.hi);
    gv_floats_pair d;
    d.hi = gv_floats_add(more, less);
    d.lo = gv_floats_add(gv_floats_add(gv_floats_sub(more, d.hi), less), e.lo);
    return d;
}

/* x/d */
GV_INLINE gv_floats_bounds gv_float_sigmoid_value(gv_floats x, gv_floats_pair d) {
    gv_floats_bounds y;
    gv_floats q = gv_floats_over(gv_floats_all(1.0f), d.hi);
    y.hi = gv_floats_mul(x, q);
    gv_floats lo = gv_floats_mul(gv_floats_less(y.hi, d.lo, gv_floats_less(y.hi, d.hi, x)), q);
    y.up = gv_floats_madd(y.hi, gv_floats_all(GV_FLOAT_SIGMOID_LOSS), lo);
    y.down = gv_floats_less(y.hi, gv_floats_all(GV_FLOAT_SIGMOID_LOSS), lo);
    return y;
}

/* 1/d */
GV_INLINE gv_floats_pair gv_float_inverse(gv_floats_pair d) {
    gv_floats_pair q;
    gv_floats one = gv_floats_all(1.0f);
    q.hi = gv_floats_over(one, d.hi);
    q.lo = gv_floats_mul(gv_floats_less(q.hi, d.lo, gv_floats_less(q.hi, d.hi, one)), q.hi);
    return q;
}

/* q (1 + s p), |x| <= most */
GV_INLINE gv_floats_bounds gv_float_sigmoid_slope(const gv_float_rate *s, gv_floats x, gv_floats_pair q) {
    gv_floats_bounds y;
    gv_floats one = gv_floats_all(1.0f), p = gv_floats_sub(one, q.hi);
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
    y.hi = gv_floats_mul(q.hi, sum);
    gv_floats lo = gv_floats_madd(q.lo, sum, gv_floats_madd(q.hi, sum_low, gv_floats_msub(q.hi, sum, y.hi)));
    gv_floats scale = gv_floats_add(gv_floats_magnitude(y.hi), q.hi);
    y.up = gv_floats_madd(scale, gv_floats_all(GV_FLOAT_SIGMOID_LOSS), lo);
    y.down = gv_floats_less(scale, gv_floats_all(GV_FLOAT_SIGMOID_LOSS), lo);
    return y;
}

/* A loop for each of these three: processors hold too few operations for one chain of this length to run beside the
   next (docs/decisions.md). First e; then, of gradients, 1/(1 + e), where registers are short. */
#define GV_FLOAT_INVERSE_APART (GV_FLOAT_LANES < 32)

GV_INLINE void gv_float_sigmoid_exp(const gv_float_rate *s, const float *x, float *hi, float *lo) {
    gv_floats_pair e = gv_float_exp(s, gv_floats_clamped(gv_floats_load(x), s->most));
    gv_floats_store(hi, e.hi);
    gv_floats_store(lo, e.lo);
}

GV_INLINE void gv_float_sigmoid_inverse(float *hi, float *lo) {
    gv_floats_pair e = {gv_floats_load(hi), gv_floats_load(lo)}, q = gv_float_inverse(gv_float_one_plus(e));
    gv_floats_store(hi, q.hi);
    gv_floats_store(lo, q.lo);
}

/* y, and as the result bit i: lane i is not decided */
GV_INLINE uint32_t gv_float_sigmoid(const gv_float_rate *s, int derivative, const float *x, const float *hi,
                                    const float *lo, float *y) {
    gv_floats_pair e = {gv_floats_load(hi), gv_floats_load(lo)};
    gv_floats input = gv_floats_load(x);
    gv_floats_bounds f;
    if (derivative)
        f = gv_float_sigmoid_slope(s, input, GV_FLOAT_INVERSE_APART ? e : gv_float_inverse(gv_float_one_plus(e)));
    else f = gv_float_sigmoid_value(input, gv_float_one_plus(e));
    return gv_floats_store_and_compare(y, gv_floats_add(f.hi, f.up), gv_floats_add(f.hi, f.down)) |
           gv_floats_outside(input, derivative ? 0.0f : GV_FLOAT_SIGMOID_LEAST, s->most);
}

#endif
