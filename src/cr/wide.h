/* f(x) by its piece in double-double: stage 3 of the float64 kernels (float64.h), and values to judge float64 by
   (truth/loops.h).
   v = T0 + T1 h + h^2 R(h) + d(h), by compensated operations; d, of degree 10, is what the piece leaves (pieces.h).
   The bound of a piece is in the table, for the first piece of t in proportion to q; u = 2^-53:
     c6 + c7 h in double                                 below 4 u sum |c_k| r^k, k = 6, 7
     d in double                                         below 16 u sum |d_k| r^k
     products and sums of heads exact; low parts, fewer
     than 32 roundings of terms below 2 u |c_k| r^k      below 128 u^2 sum |c_k| r^k
     what d leaves                                       its Chebyshev expansion and the Taylor remainder, in Arb
   2^-51 |lo| is for what is added up last. tools/make_float64_tables.py computes it in Arb;
   tests/prove/test_core.py runs it again.
   Only IEEE operations and fma: the same bits on every instruction set. */
#ifndef GV_CR_WIDE_H
#define GV_CR_WIDE_H
#include "../truth/value.h"
#include "piecewise.h"

#define GV_WIDE_ERROR 0x1p-83 /* relative: 2^-30 ulp */

/* h^2 (R(h) + d2 + d3 h + ...) */
GV_INLINE gv_dd gv_wide_square(const double *c, const double *d, double h) {
    double tail = fma(gv_last_bits(c[GV_C6], GV_LAST_SHIFT), h, c[GV_C6]);
    double rest = d[GV_REST_TERMS - 1];
    for (int k = GV_REST_TERMS - 2; k >= 2; k--) rest = fma(rest, h, d[k]);
    gv_dd r = gv_dd_from(tail);
    for (int k = GV_C5; k >= GV_C2; k--) { /* compensated Horner: lo is what hi has lost */
        gv_dd p = gv_two_prod(r.hi, h), s = gv_two_sum(c[k], p.hi);
        r = gv_dd_make(s.hi, fma(r.lo, h, p.lo + s.lo));
    }
    gv_dd h2 = gv_two_prod(h, h), q = gv_two_prod(h2.hi, r.hi);
    return gv_dd_make(q.hi, q.lo + fma(h2.hi, r.lo + rest, h2.lo * r.hi));
}

GV_INLINE int gv_wide_has(const gv_piecewise *f, double x) {
    double a = fabs(x);
    return a >= 0x1p-40 && a <= (f->wide - 1) / f->per_unit;
}

/* f(x) where gv_wide_has it */
GV_INLINE gv_value gv_wide(const gv_piecewise *f, double x) {
    double a = fabs(x), centre = (a * f->per_unit + 0x1.8p52) - 0x1.8p52, width = 1.0 / f->per_unit;
    const double *c = f->pieces[(int)centre].c, *d = f->rest[(int)centre].c;
    double h = a - centre * width, above = x > 0.0 ? 1.0 : 0.0;
    gv_dd q = gv_wide_square(c, d, h), p = gv_two_prod(c[GV_T1], h);
    gv_dd s = gv_two_sum(c[GV_T0], p.hi), v = gv_two_sum(s.hi, q.hi);
    double low = fma(gv_last_bits(c[GV_LOW], GV_LOW_SHIFT), h, p.lo) + c[GV_LOW] + fma(d[1], h, d[0]);
    double lo = (s.lo + v.lo) + (low + q.lo);
    double leading = f->derivative ? above : above * x, sign = f->derivative ? 1.0 - 2.0 * above : -1.0;
    double loss = d[GV_REST_TERMS] * (centre == 0.0 && !f->derivative ? fabs(q.hi) : 1.0);
    gv_dd y = gv_two_sum(leading, sign * v.hi);
    y = gv_fast_two_sum(y.hi, y.lo + sign * lo);
    return gv_value_make(y.hi, y.lo, loss + fabs(y.lo) * 0x1p-51, 0);
}

/* Whether v, of gv_wide, is within GV_WIDE_ERROR and decides how it rounds and on which side of a float64 it lies */
GV_INLINE int gv_wide_decides(gv_value v) {
    return v.err <= GV_WIDE_ERROR * fabs(v.hi) && v.hi + (v.lo + v.err) == v.hi + (v.lo - v.err) && fabs(v.lo) >= v.err;
}

#endif
