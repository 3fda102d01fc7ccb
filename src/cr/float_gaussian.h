/* Correctly rounded float32: gelu and gelu_grad for every x, by e^(-x^2/2), where there are vectors with fma: slower than
   pieces, but wide inputs need no other way. float32 operations alone, as in float_pieces.h and float_sigmoid.h.

   f(x) = max(x, 0) - t(|x|), f'(-a) = t'(a), f'(a) = 1 - t'(a); t, t' = e^(-a^2/2) v(a): v = a M(a)/sqrt(2 pi), in the
   gradient (M(a) - a)/sqrt(2 pi), M the Mills ratio, by pieces, tables/gelu_gaussian_f32.h and gelu_grad_gaussian_f32.h;
   e = e^-s of float_sigmoid.h. e 2^56 times, v 2^8 times and all that follows 2^64 times, so that nothing underflows:
     s              a^2/2 as two floats, exact; the second is below 2^-18
     v.hi, v.lo     T0 + m h, m of gv_float_slope
     p.hi, p.lo     e.hi v.hi rounded; what that lost + e.hi v.lo + e.lo v.hi; with the sign of x in a derivative
     y = hi         L - p.hi rounded, L = max(x, 0), 0 or 1
     lo             (L - y) - p.hi, which loses nothing: L = 0, or L >= |p.hi| (Dekker); - p.lo
     loss           of p: of a piece, relative, and so less than that of y; in a derivative in proportion to e.hi, and
                    2^-46 of L, for lo +- loss; and 2^-86, or 2^-150 of f, which exceeds all underflows and leaves
                    zeros and subnormal results to stage 2: their floats are no further apart

   Where y + (lo + loss) and y + (lo - loss) round to one float, that is the result, rounding being monotone; where it is
   normal 2^-64 of it is exact, too, which takes the bits of an exponent away. Where x <= zero it is -0. A NaN stays one
   and is never decided, nor is x > 2^64, where L is infinite.

   Bounds     tests/prove/test_float32_sigmoid.py (docs/proofs.md, section 11)
   Results    = 0 of 2^32 inputs wrong: test_all_inputs of tests/truth/test_float32_kernels.py
   Model      one lane in portable C gives the same bits and the same undecided lanes:
              test_the_lanes_agree_with_their_model of tests/truth/test_float_pieces.py */
#ifndef GV_CR_FLOAT_GAUSSIAN_H
#define GV_CR_FLOAT_GAUSSIAN_H
#include "float_pieces.h"
#include "float_sigmoid.h"

#define GV_FLOAT_GAUSSIAN_EDGE (-4.0f) /* beyond it pieces leave too much */
#define GV_FLOAT_GAUSSIAN_SCALE 0x1p64f
#define GV_FLOAT_GAUSSIAN_LEAST 0x1p-86f /* loss */
#if GV_EXP_BITS == 4
#define GV_FLOAT_GAUSSIAN_SHIFT 0x1.8007p23f /* 3/2 2^23 + 16 * 56 */
#else
#define GV_FLOAT_GAUSSIAN_SHIFT 0x1.80038p23f /* 3/2 2^23 + 8 * 56 */
#endif

/* of 2^56 e^(-a^2/2) */
GV_INLINE gv_float_reduced gv_float_gaussian_reduce(gv_floats a) {
    const gv_float_rate *rate = &gv_silu_rate;
    gv_floats half = gv_floats_mul(a, gv_floats_all(0.5f)), s = gv_floats_mul(a, half);
    gv_floats steps = gv_floats_madd_all(s, rate->steps_per_unit, GV_FLOAT_GAUSSIAN_SHIFT);
    gv_floats minus_n = gv_floats_sub(gv_floats_all(GV_FLOAT_GAUSSIAN_SHIFT), steps);
    gv_floats rest =
        gv_floats_madd(minus_n, gv_floats_all(rate->step_low), gv_floats_of_steps(gv_float_exp2_rest, steps));
    gv_float_reduced of = {gv_floats_scaled(gv_floats_of_steps(gv_float_exp2, steps), steps),
                           gv_floats_msub(minus_n, gv_floats_all(rate->step), s),
                           gv_floats_sub(rest, gv_floats_msub(a, half, s))};
    return of;
}

GV_INLINE gv_floats_pair gv_float_gaussian_factor(const gv_float_table *f, gv_floats_place at, gv_floats a) {
    gv_floats h = gv_floats_sub(a, gv_floats_column(f, GV_CENTRE, at)), head = gv_floats_column(f, GV_HEAD, at);
    gv_floats_pair m = gv_float_slope(f, at, h), v;
    v.hi = gv_floats_madd(m.hi, h, head);
    v.lo = gv_floats_madd(m.hi, h, gv_floats_sub(head, v.hi));
    v.lo = gv_floats_madd(m.lo, h, gv_floats_add(v.lo, gv_floats_column(f, GV_HEAD_LOW, at)));
    return v;
}

GV_INLINE gv_floats_pair gv_float_gaussian_product(gv_floats_pair e, gv_floats_pair v) {
    gv_floats_pair p;
    p.hi = gv_floats_mul(e.hi, v.hi);
    p.lo = gv_floats_madd(e.hi, v.lo, gv_floats_msub(e.hi, v.hi, p.hi));
    p.lo = gv_floats_madd(e.lo, v.hi, p.lo);
    return p;
}

/* 2^64 L - p; e: e.hi */
GV_INLINE gv_floats_bounds gv_float_gaussian_rest(int derivative, gv_floats leading, gv_floats_pair p, gv_floats e,
                                                  gv_floats bound) {
    gv_floats hi = gv_floats_sub(leading, p.hi), least = gv_floats_all(GV_FLOAT_GAUSSIAN_LEAST);
    gv_floats lo = gv_floats_sub(gv_floats_sub(gv_floats_sub(leading, hi), p.hi), p.lo);
    if (derivative) least = gv_floats_madd_all(leading, 0x1p-46f, GV_FLOAT_GAUSSIAN_LEAST);
    return gv_float_within(hi, lo, gv_floats_madd(derivative ? e : gv_floats_magnitude(hi), bound, least));
}

/* Of inputs: |x|, its piece, e^-s as reduced; then both factors, and the bound */
typedef struct {
    gv_floats a;
    gv_floats_place at;
    gv_float_reduced of;
} gv_float_gaussian_work;
typedef struct {
    gv_floats_pair e, v;
    gv_floats bound;
} gv_float_gaussian_factors;

GV_INLINE gv_float_gaussian_work gv_float_gaussian_start(const gv_float_table *f, gv_floats x, gv_floats_place at) {
    gv_floats a = gv_float_clamped(f, x);
    gv_float_gaussian_work work = {a, at, gv_float_gaussian_reduce(a)};
    return work;
}

GV_INLINE gv_float_gaussian_factors gv_float_gaussian_evaluate(const gv_float_table *f, gv_float_gaussian_work work) {
    gv_float_gaussian_factors factors = {gv_float_exp(work.of), gv_float_gaussian_factor(f, work.at, work.a),
                                         gv_floats_column(f, GV_BOUND, work.at)};
    return factors;
}

/* y, and as the result bit i: lane i is not decided. Where x <= zero, f(x) rounds to -0. */
GV_INLINE uint32_t gv_float_gaussian_round(int derivative, float zero, gv_floats x, gv_float_gaussian_factors by,
                                           float *y) {
    gv_floats_pair p = gv_float_gaussian_product(by.e, by.v);
    gv_floats scale = gv_floats_all(GV_FLOAT_GAUSSIAN_SCALE), leading;
    if (derivative) {
        leading = gv_floats_step(x, scale);
        p.hi = gv_floats_times_sign(p.hi, x);
        p.lo = gv_floats_times_sign(p.lo, x);
    } else {
        leading = gv_floats_mul(gv_floats_not_negative(x), scale);
    }
    gv_floats_bounds b = gv_float_gaussian_rest(derivative, leading, p, by.e.hi, by.bound);
    return gv_floats_store_above(y, x, zero, gv_floats_add(b.hi, b.up), gv_floats_add(b.hi, b.down));
}

#endif
