/* e^r for |r| <= log(2)/64 (1 + 2^-34), in lanes: for logistic.h and tail.h, which have the bounds. */
#ifndef GV_CR_EXP_LANES_H
#define GV_CR_EXP_LANES_H
#include "lanes.h"
#include "../truth/tables.h"

/* P(r) of e^r = 1 + r + r^2 P(r), r2 = r^2 */
GV_INLINE gv_lanes gv_lanes_exp_polynomial(gv_lanes r, gv_lanes r2) {
    gv_lanes p = gv_lanes_madd(gv_lanes_all(0x1.a01a01a01a01ap-13 /* 1/5040 */), r,
                               gv_lanes_all(0x1.6c16c16c16c17p-10 /* 1/720 */));
    p = gv_lanes_madd(p, r2,
                      gv_lanes_madd(gv_lanes_all(0x1.1111111111111p-7 /* 1/120 */), r,
                                    gv_lanes_all(0x1.5555555555555p-5 /* 1/24 */)));
    return gv_lanes_madd(p, r2, gv_lanes_madd(gv_lanes_all(0x1.5555555555555p-3 /* 1/6 */), r, gv_lanes_all(0.5)));
}

/* h (c + p): a compensated Horner step, lo is what hi has lost */
GV_INLINE gv_lanes_pair gv_lanes_horner(gv_lanes_pair p, gv_dd c, gv_lanes h) {
    gv_lanes_pair sum = gv_lanes_fast_two_sum(gv_lanes_all(c.hi), p.hi), product = gv_lanes_product(sum.hi, h);
    gv_lanes lo = sum.lo + (p.lo + gv_lanes_all(c.lo));
    return gv_lanes_pair_make(product.hi, gv_lanes_madd(lo, h, product.lo));
}

/* e^r - 1: the terms up to r^4 as pairs, those up to r^10 in double. No loops, so that gcc makes vectors of one lane */
GV_INLINE gv_lanes_pair gv_lanes_expm1(gv_lanes_pair r) {
    const gv_dd *c = gv_exp_coefficient; /* 1/n! */
    gv_lanes h = r.hi, rest = gv_lanes_madd(gv_lanes_all(c[10].hi), h, gv_lanes_all(c[9].hi));
    rest = gv_lanes_madd(rest, h, gv_lanes_all(c[8].hi));
    rest = gv_lanes_madd(rest, h, gv_lanes_all(c[7].hi));
    rest = gv_lanes_madd(rest, h, gv_lanes_all(c[6].hi));
    rest = gv_lanes_madd(rest, h, gv_lanes_all(c[5].hi));
    gv_lanes_pair p = gv_lanes_horner(gv_lanes_pair_make(rest * h, gv_lanes_all(0.0)), c[4], h);
    p = gv_lanes_horner(gv_lanes_horner(p, c[3], h), c[2], h);
    gv_lanes_pair square = gv_lanes_product(p.hi, h), sum = gv_lanes_fast_two_sum(h, square.hi);
    gv_lanes lo = sum.lo + gv_lanes_madd(p.lo, h, square.lo);
    return gv_lanes_pair_make(sum.hi, lo + gv_lanes_madd(r.lo, sum.hi, r.lo));
}

#endif
