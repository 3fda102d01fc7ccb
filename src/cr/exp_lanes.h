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

/* h^5/5! + ... + h^10/10!, divided by h^4. No loop here, so that gcc makes vectors of single lanes (truth/loops.h) */
GV_INLINE gv_lanes gv_lanes_exp_rest(gv_lanes h) {
    gv_lanes p = gv_lanes_madd(gv_lanes_all(gv_exp_coefficient[10].hi), h, gv_lanes_all(gv_exp_coefficient[9].hi));
    p = gv_lanes_madd(p, h, gv_lanes_all(gv_exp_coefficient[8].hi));
    p = gv_lanes_madd(p, h, gv_lanes_all(gv_exp_coefficient[7].hi));
    p = gv_lanes_madd(p, h, gv_lanes_all(gv_exp_coefficient[6].hi));
    return gv_lanes_madd(p, h, gv_lanes_all(gv_exp_coefficient[5].hi)) * h;
}

/* e^r - 1: the terms up to r^4 as pairs, the rest in double */
GV_INLINE gv_lanes_pair gv_lanes_expm1(gv_lanes_pair r) {
    gv_lanes h = r.hi;
    gv_lanes_pair p = gv_lanes_pair_make(gv_lanes_exp_rest(h), gv_lanes_all(0.0));
    p = gv_lanes_horner(p, gv_exp_coefficient[4], h);
    p = gv_lanes_horner(p, gv_exp_coefficient[3], h);
    p = gv_lanes_horner(p, gv_exp_coefficient[2], h);
    gv_lanes_pair square = gv_lanes_product(p.hi, h), sum = gv_lanes_fast_two_sum(h, square.hi);
    gv_lanes lo = sum.lo + gv_lanes_madd(p.lo, h, square.lo);
    return gv_lanes_pair_make(sum.hi, lo + gv_lanes_madd(r.lo, sum.hi, r.lo));
}

#endif
