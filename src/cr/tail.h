/* The tails of gelu and gelu_grad in float64, in lanes: |f(x)| for x < 0 and what f(x) is less than x or 1 for x > 0,
   where the pieces of t are too wide or end. Stage 2 of float64.h for |x| >= from.

   t(a) = e v, |t'(a)| = e a v, as 2^-n (hi + lo); a = |x|, e = e^-s, s = a^2/2, M the Mills ratio,
     v = a M(a)/sqrt(2 pi), or (1 - M(a)/a)/sqrt(2 pi): pieces as those of t (pieces.h), tables/gelu_tail_f64.h,
         gelu_grad_tail_f64.h
   e^-s = 2^-n 2^(j/64) e^r, r = m log(2)/64 - s, |r| <= log(2)/128 (1 + 2^-34): e^r = 1 + r + r^2 P(r), P of degree 5 in
   double, r as hi + lo.

   Bound    GV_TAIL_LOSS relative, and what v's piece loses: proved by tests/prove/test_tail.py (docs/proofs.md,
            section 9), with fma and without
   Range    |x| up to `to`, where results are above 2^-920, so that nothing underflows */
#ifndef GV_CR_TAIL_H
#define GV_CR_TAIL_H
#include "exp_lanes.h"
#include "piecewise.h"
#include "../tables/gelu_grad_tail_f64.h"
#include "../tables/gelu_tail_f64.h"
#include "../truth/tables.h"

#define GV_TAIL_LOSS 0x1p-64
#define GV_TAIL_Q_LOSS 0x1.08p-51 /* as float64.h counts it: 4 u and an eighth */

/* (hi + lo) scale, scale = 2^-n; `loss` of it, relative */
typedef struct { gv_lanes hi, lo, loss, scale; } gv_lanes_tail;

GV_INLINE gv_lanes_pair gv_lanes_multiply(gv_lanes_pair a, gv_lanes_pair b) {
    gv_lanes_pair p = gv_lanes_product(a.hi, b.hi);
    return gv_lanes_fast_two_sum(p.hi, p.lo + gv_lanes_madd(a.hi, b.lo, a.lo * b.hi));
}

GV_INLINE gv_lanes gv_tail_square(gv_lanes r) {
    gv_lanes r2 = r * r;
    return r2 * gv_lanes_exp_polynomial(r, r2);
}

/* e^-s, 4 <= s <= 640 */
GV_INLINE gv_lanes_tail gv_tail_exp(gv_lanes_pair s) {
    gv_lanes shifted = gv_lanes_madd(s.hi, gv_lanes_all(0x1.71547652b82fep+6 /* 64/log(2) */), gv_lanes_all(0x1.8p52));
    gv_lanes m = shifted - gv_lanes_all(0x1.8p52), t, t_lo, scale;
    gv_lanes_exp2(gv_exp2_table, shifted, &t, &t_lo, &scale);
    gv_lanes first = gv_lanes_madd(m, gv_lanes_all(gv_ln2_64_head), -s.hi); /* exact */
    gv_lanes_pair tail = gv_lanes_product(m, gv_lanes_all(gv_ln2_64_tail));
    gv_lanes_pair rest = gv_lanes_two_sum(tail.hi, -s.lo), r = gv_lanes_two_sum(first, rest.hi);
    gv_lanes r_lo = r.lo + (rest.lo + tail.lo), p = gv_tail_square(r.hi) + r_lo;
    gv_lanes_pair linear = gv_lanes_product(t, r.hi), sum = gv_lanes_fast_two_sum(t, linear.hi);
    gv_lanes small = sum.lo + (linear.lo + gv_lanes_madd(t_lo, r.hi, t_lo));
    sum = gv_lanes_fast_two_sum(sum.hi, gv_lanes_madd(t, p, small));
    gv_lanes_tail e = {sum.hi, sum.lo, gv_lanes_all(GV_TAIL_LOSS), scale};
    return e;
}

GV_INLINE gv_lanes_tail gv_tail_scaled(gv_lanes_tail e, gv_lanes_pair by) {
    gv_lanes_pair p = gv_lanes_multiply(gv_lanes_pair_make(e.hi, e.lo), by);
    e.hi = p.hi;
    e.lo = p.lo;
    return e;
}

/* e^(-a^2/2) v(a), times a in a derivative */
GV_INLINE gv_lanes_tail gv_tail_gauss(const gv_piece *pieces, double first, double per_unit, int derivative,
                                      gv_lanes a) {
    double step[GV_F64_LANES];
    gv_lanes c[GV_COLUMNS];
    gv_lanes_pair square = gv_lanes_product(a, a);
    gv_lanes shifted = gv_lanes_madd(a, gv_lanes_all(per_unit), gv_lanes_all(0x1.8p52 - first));
    gv_lanes centre = shifted - gv_lanes_all(0x1.8p52 - first);
    gv_lanes_store(step, shifted);
    gv_lanes_rows(pieces, step, c);
    static const gv_piecewise plain = {.q_loss = GV_TAIL_Q_LOSS};
    gv_lanes_sum v = gv_piece_sum(&plain, c, gv_lanes_madd(centre, gv_lanes_all(-1.0 / per_unit), a));
    gv_lanes_tail e = gv_tail_exp(gv_lanes_pair_make(square.hi * 0.5, square.lo * 0.5));
    e = gv_tail_scaled(e, gv_lanes_pair_make(v.hi, v.lo));
    e.loss = gv_lanes_madd(v.loss, gv_lanes_all(3.0), e.loss); /* v > 0.38 */
    return derivative ? gv_tail_scaled(e, gv_lanes_pair_make(a, gv_lanes_all(0.0))) : e;
}

/* Where the tail is used from, where results become small, and from where on f(-a) rounds to -0: above -2^-1076 */
#define GV_GELU_TAIL_FROM 5.0
#define GV_GELU_TAIL_TO 35.0
#define GV_GELU_TAIL_ZERO 39.0
#define GV_GELU_GRAD_TAIL_FROM 5.0
#define GV_GELU_GRAD_TAIL_TO 35.0
#define GV_GELU_GRAD_TAIL_ZERO 39.0

GV_INLINE gv_lanes_tail gv_tail_of_gelu(gv_lanes a) {
    return gv_tail_gauss(gv_gelu_tail_pieces, GV_GELU_TAIL_FIRST, GV_GELU_TAIL_PER_UNIT, 0, a);
}

GV_INLINE gv_lanes_tail gv_tail_of_gelu_grad(gv_lanes a) {
    return gv_tail_gauss(gv_gelu_grad_tail_pieces, GV_GELU_GRAD_TAIL_FIRST, GV_GELU_GRAD_TAIL_PER_UNIT, 1, a);
}

#endif
