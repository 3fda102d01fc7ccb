/* v(a) by its piece in double-double: what float64.h cannot decide, and values to judge float64 by.
   The polynomial of float64.h is evaluated in double-double, and what it leaves is added:
   v = T0 + T1 h + h^2 R(h) + d(h), d of degree 10 with coefficients of 32 bits.
   Error below GV_WIDE_REL weight: tools/make_float64_tables.py checks it for each piece, with
     c5 + c6 h + c7 h^2 in double, one rounding each   below 4 u sum |c_k| r^k, k = 5 .. 7
     d in double                                       below 16 u sum |d_k| r^k
     ten operations of dd.h, each below 10 u^2         below 128 u^2 sum |c_k| r^k
     what d leaves: by its Chebyshev expansion and the Taylor remainder, in Arb
   Only dd.h and fma: the same bits on every instruction set. */
#ifndef GV_CR_WIDE_H
#define GV_CR_WIDE_H
#include "../core/value.h"
#include "pieces.h"

#define GV_WIDE_REL 0x1p-76

typedef struct {
    const gv_piece *pieces;
    const gv_piece_rest *rest;
    int count, wide; /* pieces; the first `wide` keep to GV_WIDE_REL */
    double per_unit; /* pieces */
    double q_loss;
    double whole;    /* from there on f(x) rounds to x, f'(x) to 1 */
    int derivative;
    gv_value (*value)(double); /* src/math: any finite x != 0 */
} gv_piecewise;

typedef struct { gv_dd linear, square; } gv_wide_sum; /* T0 + T1 h + d0 + d1 h, and the rest */

/* h^2 (R(h) + d2 + d3 h + ...) */
GV_INLINE gv_dd gv_wide_square(const double *c, const double *d, double h) {
    double tail = fma(fma(gv_last_bits(c[GV_C6], GV_LAST_SHIFT), h, c[GV_C6]), h, c[GV_C5]);
    double rest = d[GV_REST_TERMS - 1];
    for (int k = GV_REST_TERMS - 2; k >= 2; k--) rest = fma(rest, h, d[k]);
    gv_dd r = gv_dd_add_d(gv_two_prod(tail, h), c[GV_C4]);
    r = gv_dd_add_d(gv_dd_mul_d(r, h), c[GV_C3]);
    r = gv_dd_add_d(gv_dd_mul_d(r, h), c[GV_C2]);
    r = gv_fast_two_sum(r.hi, r.lo + rest);
    return gv_dd_mul(gv_two_prod(h, h), r);
}

/* leading + v, with v known to GV_WIDE_REL weight */
GV_INLINE gv_value gv_wide_beside(double leading, gv_dd v, double weight) {
    gv_dd s = gv_two_sum(leading, v.hi);
    s = gv_fast_two_sum(s.hi, s.lo + v.lo);
    return (gv_value){s.hi, s.lo, weight * GV_WIDE_REL + fabs(s.lo) * 0x1p-51, 0};
}

/* f(x), 2^-40 <= |x| <= (f->wide - 1)/f->per_unit */
GV_INLINE gv_value gv_wide(const gv_piecewise *f, double x) {
    double a = fabs(x), centre = (a * f->per_unit + 0x1.8p52) - 0x1.8p52, width = 1.0 / f->per_unit;
    const double *c = f->pieces[(int)centre].c, *d = f->rest[(int)centre].c;
    double h = a - centre * width;
    gv_dd square = gv_wide_square(c, d, h);
    if (centre == 0.0 && !f->derivative) return gv_wide_beside(0.5 * x, gv_dd_neg(square), fabs(square.hi));
    gv_dd v = gv_dd_mul_d((gv_dd){c[GV_T1], gv_last_bits(c[GV_LOW], GV_LOW_SHIFT)}, h);
    v = gv_dd_add((gv_dd){c[GV_T0], c[GV_LOW]}, v);
    v = gv_dd_add(v, square);
    v = gv_fast_two_sum(v.hi, v.lo + fma(d[1], h, d[0]));
    double weight = fabs(c[GV_T0]) + fabs(c[GV_T1]) * (0.5 * width);
    if (f->derivative) return gv_wide_beside(x > 0.0 ? 1.0 : 0.0, x > 0.0 ? gv_dd_neg(v) : v, weight);
    return gv_wide_beside(x > 0.0 ? x : 0.0, gv_dd_neg(v), weight);
}

#endif
