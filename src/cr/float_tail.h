/* Correctly rounded float32: the tails of gelu and gelu_grad, x <= GV_FLOAT_TAIL_EDGE, where there are vectors with fma.
   float32 operations alone, as in float_pieces.h and float_sigmoid.h.

   f(-a) = -e^(-a^2/2) v(a), v = a M(a)/sqrt(2 pi), in the gradient (a - M(a))/sqrt(2 pi), M the Mills ratio: v by pieces,
   tables/gelu_tail_f32.h and gelu_grad_tail_f32.h; e^-s of float_sigmoid.h, 2^64 times, so that nothing underflows:
     s              a^2/2 as two floats, exact; the second is below 2^-18
     v.hi, v.lo     T0 + m h, m of gv_float_slope; the loss of a piece is a bound on what both lack
     y = hi         e.hi v.hi rounded; lo = what that lost + e.hi v.lo + e.lo v.hi

   Bounds     tests/prove/test_float32_sigmoid.py (docs/proofs.md, section 11)
   Results    = 0 of 2^32 inputs wrong: test_all_inputs of tests/truth/test_float32_kernels.py */
#ifndef GV_CR_FLOAT_TAIL_H
#define GV_CR_FLOAT_TAIL_H
#include "float_pieces.h"
#include "float_sigmoid.h"

#define GV_FLOAT_TAIL_EDGE (-4.0f)
#define GV_FLOAT_TAIL_MOST 13.0f /* |x|; beyond, results become subnormal */
#if GV_EXP_BITS == 4
#define GV_FLOAT_TAIL_LOSS 0x1.e4p-34f /* of f, relative */
#define GV_FLOAT_TAIL_SHIFT 0x1.8008p23f /* 3/2 2^23 + 16 * 64 */
#else
#define GV_FLOAT_TAIL_LOSS 0x1.7ap-32f
#define GV_FLOAT_TAIL_SHIFT 0x1.8004p23f /* 3/2 2^23 + 8 * 64 */
#endif

/* of 2^64 e^(-a^2/2) */
GV_INLINE gv_float_reduced gv_float_tail_reduce(gv_floats a) {
    const gv_float_rate *rate = &gv_silu_rate;
    gv_floats half = gv_floats_mul(a, gv_floats_all(0.5f)), s = gv_floats_mul(a, half);
    gv_floats steps = gv_floats_madd_all(s, rate->steps_per_unit, GV_FLOAT_TAIL_SHIFT);
    gv_floats minus_n = gv_floats_sub(gv_floats_all(GV_FLOAT_TAIL_SHIFT), steps);
    gv_floats rest =
        gv_floats_madd(minus_n, gv_floats_all(rate->step_low), gv_floats_of_steps(gv_float_exp2_rest, steps));
    gv_float_reduced of = {gv_floats_scaled(gv_floats_of_steps(gv_float_exp2, steps), steps),
                           gv_floats_msub(minus_n, gv_floats_all(rate->step), s),
                           gv_floats_sub(rest, gv_floats_msub(a, half, s))};
    return of;
}

GV_INLINE gv_floats_pair gv_float_tail_factor(const gv_float_table *f, gv_floats_place at, gv_floats a) {
    gv_floats h = gv_floats_sub(a, gv_floats_column(f, GV_CENTRE, at)), head = gv_floats_column(f, GV_HEAD, at);
    gv_floats_pair m = gv_float_slope(f, at, h), v;
    v.hi = gv_floats_madd(m.hi, h, head);
    v.lo = gv_floats_madd(m.hi, h, gv_floats_sub(head, v.hi));
    v.lo = gv_floats_madd(m.lo, h, gv_floats_add(v.lo, gv_floats_column(f, GV_HEAD_LOW, at)));
    return v;
}

/* The same bounds as in float_sigmoid.h, for 2^64 |f(x)| */
GV_INLINE gv_floats_bounds gv_float_tail_product(gv_floats_pair e, gv_floats_pair v) {
    gv_floats y = gv_floats_mul(e.hi, v.hi);
    gv_floats lo = gv_floats_madd(e.hi, v.lo, gv_floats_msub(e.hi, v.hi, y));
    return gv_float_within(y, gv_floats_madd(e.lo, v.hi, lo), gv_floats_mul(y, gv_floats_all(GV_FLOAT_TAIL_LOSS)));
}

/* Of x <= GV_FLOAT_TAIL_EDGE: |x|, its piece, e^-s as reduced; then both factors */
typedef struct {
    gv_floats a;
    gv_floats_place at;
    gv_float_reduced of;
} gv_float_tail_work;
typedef struct { gv_floats_pair e, v; } gv_float_tail_factors;

GV_INLINE gv_float_tail_work gv_float_tail_start(gv_floats x, gv_floats_place at) {
    gv_floats a = gv_floats_at_most(gv_floats_magnitude(x), GV_FLOAT_TAIL_MOST);
    gv_float_tail_work work = {a, at, gv_float_tail_reduce(a)};
    return work;
}

GV_INLINE gv_float_tail_factors gv_float_tail_evaluate(const gv_float_table *f, gv_float_tail_work work) {
    gv_float_tail_factors factors = {gv_float_exp(work.of), gv_float_tail_factor(f, work.at, work.a)};
    return factors;
}

/* y, and as the result bit i: lane i is not decided */
GV_INLINE uint32_t gv_float_tail_round(gv_floats x, gv_float_tail_factors factors, float *y) {
    gv_floats_bounds b = gv_float_tail_product(factors.e, factors.v);
    gv_floats scale = gv_floats_all(-0x1p-64f);
    return gv_floats_store_and_compare(y, gv_floats_mul(gv_floats_add(b.hi, b.up), scale),
                                       gv_floats_mul(gv_floats_add(b.hi, b.down), scale)) |
           gv_floats_beyond(x, GV_FLOAT_TAIL_MOST);
}

#endif
