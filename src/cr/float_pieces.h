/* Correctly rounded float32: stage 1 of float32.h where there are vectors with fma. float32 operations alone.
   The includer defines GV_FLOAT_LANES (16, 8, 4 or 1) and GV_FLOAT_TABLES (GV_REGISTERS or GV_ROWS).

   f(x) = max(x, 0) - t(|x|), f'(-a) = t'(a), f'(a) = 1 - t'(a); v = t or t' by pieces (float_tables.h):
     v(c + h) = T0 + h m(h),  m(h) = T1 + c2 h + ... + c6 h^5 (of rows: + c4 h^3),  h = a - c,  a = min(|x|, last)
   T0 = head + low; m as hi + lo. With L = max(x, 0), 0 or 1 and u = 2^-24:

                              what it is                         what it loses at most
     h                        a - c                              nothing: both are multiples of one ulp, 24 bits
     m.hi                     T1 + c2 h rounded                  (what is lost comes back in m.lo)
     T1 - m.hi                a difference                       nothing, or u of it
     m.lo                     the rest of m                      u of each partial result
     A = base                 L - head rounded
     base_low                 (L - A) - head                     nothing: L = 0, or L >= |head| (Dekker)
     y = hi                   A - m.hi h rounded
     A - y                    a difference                       nothing, or u of it
     lo                       -m.hi h + (A - y)                  u^2 |y|
                              + base_low - low - m.lo h          u of each partial result

   A difference of floats loses nothing where they are within a factor of 2 of each other (Sterbenz), or where both
   are multiples of some power of two that is at least 2^-24 of it. For most pieces one of the two holds for every h;
   where it does not, u of it is charged. The bound of a piece is the sum of these, of the last sums lo +- loss, and of
   what the polynomial is off: for every sub-range of h in Arb, by tools/make_float32_tables.py. It is in proportion to
   |x|, of a derivative absolute. The bound of the last piece also covers all x beyond it. 2^-140 exceeds all
   underflows, and leaves zeros and |x| < 2^-115 to stage 2; a NaN stays one and is never decided.

   Where y + (lo + loss) and y + (lo - loss) round to one float, that is the result, rounding being monotone.

   Bounds     proved for every piece by tests/prove/test_float32_pieces.py, by other means than the script
              (docs/proofs.md, section 8)
   Results    = 0 of 2^32 inputs wrong: test_all_inputs of tests/truth/test_float32_kernels.py
   Model      one lane in portable C gives the same bits and the same undecided lanes:
              test_the_lanes_agree_with_their_model of tests/truth/test_float_pieces.py */
#ifndef GV_CR_FLOAT_PIECES_H
#define GV_CR_FLOAT_PIECES_H
#include "float_lanes.h"

/* |x|, but no more than the last piece has; NaN stays */
GV_INLINE gv_floats gv_float_clamped(const gv_float_table *f, gv_floats x) {
    return gv_floats_at_most(gv_floats_magnitude(x), f->last);
}

#if GV_FLOAT_TABLES == GV_REGISTERS || GV_FLOAT_LANES == 1
/* The piece of x; of a NaN, any */
GV_INLINE gv_floats_place gv_float_find(const gv_float_table *f, gv_floats x) {
    return gv_floats_find(gv_floats_madd_all(gv_float_clamped(f, x), f->inverse, f->from), f->shift);
}
#endif

/* T1 + c2 h + ... */
GV_INLINE gv_floats_pair gv_float_slope(const gv_float_table *f, gv_floats_place at, gv_floats h) {
    gv_floats_pair m;
    gv_floats t1 = gv_floats_column(f, GV_SLOPE, at), c2 = gv_floats_column(f, GV_SECOND, at);
#if GV_FLOAT_TABLES == GV_REGISTERS
    gv_floats h2 = gv_floats_mul(h, h), rest, fifth;
    m.hi = gv_floats_madd(c2, h, t1);
    m.lo = gv_floats_madd(c2, h, gv_floats_sub(t1, m.hi));
    fifth = gv_floats_madd(gv_floats_column(f, GV_SIXTH, at), h, gv_floats_column(f, GV_FIFTH, at));
    rest = gv_floats_madd(gv_floats_column(f, GV_FOURTH, at), h, gv_floats_column(f, GV_THIRD, at));
    rest = gv_floats_madd(fifth, h2, rest);
    m.lo = gv_floats_madd(rest, h2, m.lo);
#else
    gv_floats rest = gv_floats_madd(gv_floats_column(f, GV_FOURTH, at), h, gv_floats_column(f, GV_THIRD, at));
    rest = gv_floats_madd(rest, h, c2);
    m.hi = gv_floats_madd(rest, h, t1);
    m.lo = gv_floats_madd(rest, h, gv_floats_sub(t1, m.hi));
#endif
    return m;
}

/* Of inputs: their pieces, h and, later, the slope there */
typedef struct {
    gv_floats_place at;
    gv_floats h;
} gv_float_located;
typedef struct {
    gv_float_located from;
    gv_floats_pair slope;
} gv_float_sloped;

GV_INLINE gv_float_located gv_float_locate(const gv_float_table *f, gv_floats x, gv_floats_place at) {
    gv_float_located from = {at, gv_floats_sub(gv_float_clamped(f, x), gv_floats_column(f, GV_CENTRE, at))};
    return from;
}

GV_INLINE gv_float_sloped gv_float_along(const gv_float_table *f, gv_float_located from) {
    gv_float_sloped along = {from, gv_float_slope(f, from.at, from.h)};
    return along;
}

typedef struct { gv_floats hi, lo, loss; } gv_floats_sum;

/* f(x) within loss of hi + lo, the rounding of lo +- loss counted in */
GV_INLINE gv_floats_sum gv_float_sum(const gv_float_table *f, int derivative, gv_floats x, gv_float_sloped along) {
    gv_floats_sum sum;
    gv_floats_place at = along.from.at;
    gv_floats h = along.from.h;
    gv_floats_pair m = along.slope;
    gv_floats leading = derivative ? gv_floats_step(x, gv_floats_all(1.0f)) : gv_floats_not_negative(x);
    gv_floats head = gv_floats_column(f, GV_HEAD, at), low = gv_floats_column(f, GV_HEAD_LOW, at);
    gv_floats bound = gv_floats_column(f, GV_BOUND, at);
    if (derivative) {
        head = gv_floats_times_sign(head, x);
        low = gv_floats_times_sign(low, x);
        h = gv_floats_times_sign(h, x);
    }
    gv_floats base = gv_floats_sub(leading, head), base_low = gv_floats_sub(gv_floats_sub(leading, base), head);
    sum.hi = gv_floats_less(m.hi, h, base);
    sum.lo = gv_floats_less(m.hi, h, gv_floats_sub(base, sum.hi));
    sum.lo = gv_floats_less(m.lo, h, gv_floats_add(sum.lo, gv_floats_sub(base_low, low)));
    sum.loss = derivative ? bound : gv_floats_madd(bound, gv_floats_magnitude(x), gv_floats_all(0x1p-140f));
    return sum;
}

/* y, and as the result bit i: lane i is not decided */
GV_INLINE uint32_t gv_float_round(gv_floats_sum s, float *y) {
    return gv_floats_store_and_compare(y, gv_floats_add(s.hi, gv_floats_add(s.lo, s.loss)),
                                       gv_floats_add(s.hi, gv_floats_sub(s.lo, s.loss)));
}

#endif
