/* Correctly rounded float32: stage 1 of float32.h for gelu and gelu_tanh where vectors have 8 lanes or 4. As
   float_pieces.h, but pieces are of degree 3 and narrower, a row of their table a quarter of a cache line; float32
   operations alone.

   f(x) = L - a q(a), L = max(x, 0), a = |x|; q by pieces around multiples of a step (float_tables.h):
     q(c + h) = T0 + h m(h), m(h) = T1 + h b(h), b(h) = c2 + c3 h,   h = a - c, a = min(|x|, last)

   u = 2^-24:
                              what it is                         what it loses at most
     h                        a - c                              nothing: both are multiples of one ulp, 24 bits
     b, m                     rounded                            u of each
     q.hi                     T0 + m h rounded                   (what is lost comes back in q.lo)
     T0 - q.hi                a difference                       nothing (Sterbenz), or u of it
     q.lo                     m h + (T0 - q.hi) + what T0 lacks  u^2 q, and u of each partial result
     y                        L - a q.hi rounded
     L - y                    a difference                       nothing: L = 0, or y >= L/2 (Sterbenz)
     lo                       L - y - a q.hi - a q.lo            u^2 of y, and u of each partial result
     loss                     a (|m| of_slope + |b| of_bend)     of a q, for all pieces
                              2^-46 L + 2^-140                   for lo +- loss where q is small; for underflows: that
                                                                 leaves zeros and |x| < 2^-115 to stage 2
   From `last` on the row says q = 0 with a slope so large that its loss exceeds q(last). A NaN stays one and is never
   decided.

   Where y + (lo + loss) and y + (lo - loss) round to one float, that is the result, rounding being monotone.

   Bounds     proved for every piece by tests/prove/test_float32_cubics.py, by other means than the script
              tools/make_float32_cubics.py (docs/proofs.md, section 8)
   Results    = 0 of 2^32 inputs wrong: test_all_inputs of tests/truth/test_float32_kernels.py
   Model      one lane in portable C gives the same bits and the same undecided lanes:
              test_the_lanes_agree_with_their_model of tests/truth/test_float_pieces.py */
#ifndef GV_CR_FLOAT_CUBICS_H
#define GV_CR_FLOAT_CUBICS_H
#include "float_pieces.h"

/* h of |x|, and where in the table its row is, in bytes; of a NaN those of `last` */
GV_INLINE gv_floats gv_float_cubic_find(const gv_float_cubics *f, gv_floats x, uint32_t *offset) {
    gv_floats a = gv_floats_up_to(gv_floats_magnitude(x), f->last), from = gv_floats_all(f->from);
    gv_floats sum = gv_floats_add(a, from);
    gv_floats_store_sixteen_times(offset, sum);
    return gv_floats_sub(a, gv_floats_sub(sum, from));
}

/* q of |x|, `row` its coefficients, and what it loses at most */
GV_INLINE gv_floats_sum gv_float_cubic(const gv_float_cubics *f, gv_floats h, const gv_floats *row) {
    gv_floats_sum q;
    gv_floats bend = gv_floats_madd(row[3], h, row[2]), slope = gv_floats_madd(bend, h, row[1]);
    q.hi = gv_floats_madd(slope, h, row[0]);
    q.lo = gv_floats_madd(slope, h, gv_floats_sub(row[0], q.hi));
    q.lo = gv_floats_add(q.lo, gv_floats_last_half(row[3]));
    q.loss = gv_floats_madd(gv_floats_magnitude(bend), gv_floats_all(f->of_bend),
                            gv_floats_mul(gv_floats_magnitude(slope), gv_floats_all(f->of_slope)));
    return q;
}

/* f(x) within loss of hi + lo, the rounding of lo +- loss counted in */
GV_INLINE gv_floats_sum gv_float_cubic_sum(gv_floats x, gv_floats_sum q) {
    gv_floats_sum sum;
    gv_floats a = gv_floats_magnitude(x), leading = gv_floats_not_negative(x);
    sum.hi = gv_floats_less(a, q.hi, leading);
    sum.lo = gv_floats_less(a, q.lo, gv_floats_less(a, q.hi, gv_floats_sub(leading, sum.hi)));
    sum.loss = gv_floats_madd(a, q.loss, gv_floats_madd_all(leading, 0x1p-46f, 0x1p-140f));
    return sum;
}

#endif
