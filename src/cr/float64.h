/* Correctly rounded float64: gelu, gelu_tanh, gelu_sigmoid, silu and their derivatives, over arrays.
   The includer defines GV_ISA(name), the name for its instruction set, and GV_HAVE_FMA, 1 or 0; or GV_NO_ARRAYS.

   gelu, gelu_grad:
     1 fast path       one piece, a polynomial of degree 7 as hi + lo; each has its bound: below, tables/<f>_f64.h
     2 tail            what that leaves open for |x| from 5 on, gathered in lanes: tail.h, 2^-64
     3 same piece      in double-double, with eleven more coefficients: wide.h, 2^-83 or less
   gelu_tanh, gelu_sigmoid, silu and their derivatives, for every x:
     1 fast path       e^-s and one quotient, in lanes: logistic.h, 2^-64
     2 long            what that leaves open, one in a thousand, gathered: the same in double-double, logistic.h, 2^-89
   all, what is open then:
     accurate path     double-double by the formulas: math/<f>.h, 2^-88
     oracle            the undecided, reported to the caller: gelu_verify/truth/oracle.py

   Of the pieces:
   Bounds    proved for every piece by tests/prove/test_float64.py, and by other means by the script that writes the
             tables, tools/make_float64_tables.py (docs/proofs.md, section 7)
   Results   tests/truth/test_float64_kernels.py: the hard cases of data/hard_cases, centre and border of every piece and
             random inputs, against the oracle and Arb, every instruction set

   f(x) = max(x, 0) - t(|x|), f'(-a) = t'(a), f'(a) = 1 - t'(a); v = t or t' by pieces (pieces.h):
     v(c + h) = T0 + T1 h + h^2 R(h),  h = |x| - c exactly, |h| <= r, half a piece
   T0, T1 as hi + lo, the products and sums of their hi exact, q = h^2 R(h) in double. Then a rounding test.

   Sums of three operations lose nothing where the first term is at least the second, or a multiple of its unit in the
   last place (Boldo, Graillat, Muller, "On the robustness of the 2Sum and Fast2Sum algorithms", ACM TOMS 44, 2017).
   For each piece |T0| >= |T1| r + max |q|, or |T1 h| >= |q| and T0 is that large or such a multiple
   (check_sums, head in tools/make_float64_tables.py): then T0 + p and s + q are of that kind. max(x, 0) and 1, where
   they are not 0, exceed |v|.

   What hi + lo loses, u = 2^-53, with fma or without:
     q     c2 is rounded twice in R, any other coefficient at most 8 times; h2 and the product once each:
           4 u |q| + 14 u sum_(k>=3) |c_k| r^k
     lo    fewer than 20 roundings of terms below 3 u (|T0| + |T1| r + |q|): below 64 u^2 of that
     v     less the polynomial with its rounded coefficients: the sum of the Chebyshev coefficients of the difference,
           and the Taylor remainder, in Arb
     max(x, 0) or 1 added: exact in hi, below 8 u^2 of it in lo and in the test
   All but q's 4 u and max(x, 0)'s is the bound in the table, one for each piece. In the first piece of t, T0 = 0 and
   T1 = 1/2 exactly: all that is lost is in proportion to q: 4 u, its coefficients, and u |q| in the last sums, or an
   underflow, below that piece's bound of 2^-1021, which also leaves subnormal results to src/math. The last
   piece has no finite bound and never decides: it stands for all beyond it, and NaN. */
#ifndef GV_CR_FLOAT64_H
#define GV_CR_FLOAT64_H
#include "../truth/judge.h"
#include "lanes.h"
#include "wide.h"

#define GV_F64_BLOCK 128
#define GV_LEADING_LOSS 0x1p-103 /* 8 u^2 */

typedef gv_value (*gv_evaluator)(double); /* of src/math: any finite x != 0 */

/* v and the bound on its error, without the leading term */
GV_INLINE gv_lanes_sum gv_piece_sum(const gv_piecewise *f, const gv_lanes *c, gv_lanes h) {
    gv_lanes h2 = h * h;
    gv_lanes r = gv_lanes_madd(gv_lanes_last_bits(c[GV_C6], GV_LAST_SHIFT), h, c[GV_C6]);
    r = gv_lanes_madd(r, h2, gv_lanes_madd(c[GV_C5], h, c[GV_C4]));
    r = gv_lanes_madd(r, h2, gv_lanes_madd(c[GV_C3], h, c[GV_C2]));
    gv_lanes q = h2 * r, loss = gv_lanes_last_bits(c[GV_C5], GV_LOSS_SHIFT);
    gv_lanes_pair p = gv_lanes_product(c[GV_T1], h);
    gv_lanes low = gv_lanes_madd(gv_lanes_last_bits(c[GV_LOW], GV_LOW_SHIFT), h, p.lo) + c[GV_LOW];
    gv_lanes_pair s = gv_lanes_fast_two_sum(c[GV_T0], p.hi), v = gv_lanes_fast_two_sum(s.hi, q);
    gv_lanes_sum sum = {v.hi, low + (s.lo + v.lo), gv_lanes_madd(gv_lanes_abs(q), gv_lanes_all(f->q_loss), loss)};
    return sum;
}

/* max(x, 0) - v, or v for x < 0 and 1 - v for x > 0; bit i of the result: lane i is not decided */
GV_INLINE int gv_round_lanes(const gv_piecewise *f, gv_lanes x, gv_lanes_sum v, double *y) {
    gv_lanes zero = gv_lanes_all(0.0), one = gv_lanes_all(1.0);
    gv_lanes leading = f->derivative ? gv_lanes_by_sign(x, zero, one) : gv_lanes_max(x, zero);
    gv_lanes hi = f->derivative ? gv_lanes_against(x, v.hi) : -v.hi;
    gv_lanes lo = f->derivative ? gv_lanes_against(x, v.lo) : -v.lo;
    gv_lanes_pair s = gv_lanes_fast_two_sum(leading, hi);
    gv_lanes loss = f->derivative ? v.loss : gv_lanes_madd(leading, gv_lanes_all(GV_LEADING_LOSS), v.loss);
    gv_lanes_sum rounded = {s.hi, lo + s.lo, loss};
    return gv_lanes_round(rounded, y);
}

/* y of GV_F64_LANES inputs; bit i of the result: lane i is not decided */
GV_INLINE int gv_piece_lanes(const gv_piecewise *f, gv_lanes x, const double *step, double *y) {
    gv_lanes c[GV_COLUMNS];
    gv_lanes centre = gv_lanes_load(step) - gv_lanes_all(0x1.8p52); /* in pieces */
    gv_lanes h = gv_lanes_madd(centre, gv_lanes_all(-1.0 / f->per_unit), gv_lanes_abs(x));
    gv_lanes_rows(f->pieces, step, c);
    return gv_round_lanes(f, x, gv_piece_sum(f, c, h), y);
}

/* v rounded, in the range of gv_wide, where no result is subnormal and lo + err has no bits to lose */
GV_INLINE int gv_round_wide(gv_value v, double *y) {
    *y = v.hi + (v.lo + v.err);
    return *y == v.hi + (v.lo - v.err);
}

#ifndef GV_NO_ARRAYS /* src/cuda has its own loops */
#include "accurate.h"
#include "tail.h"

static int gv_round_binary64(gv_value v, double *y) {
    static const gv_format binary64 = {64, 53, -1022, 1023};
    gv_units u = gv_in_units(v, &binary64);
    uint64_t bits;
    int decided = gv_round(&u, &binary64, UINT64_C(0x7ff0000000000000), &bits);
    memcpy(y, &bits, sizeof bits);
    return decided;
}

/* One input by its formula; 0 when that does not decide. From `whole` on f(x) rounds to x, f'(x) to 1. */
GV_INLINE int gv_by_formula(double whole, int derivative, gv_evaluator evaluate, double x, double *y) {
    if (x != x) *y = NAN;
    else if (x == 0.0) *y = derivative ? 0.5 : x;
    else if (x >= whole) *y = derivative ? 1.0 : x;
    else if (x < -DBL_MAX) *y = -0.0;
    else return gv_round_binary64(evaluate(x), y);
    return 1;
}

/* One input that its piece does not decide; 0 when double-double does not either */
GV_INLINE int gv_redo(const gv_piecewise *f, gv_evaluator evaluate, double x, double *y) {
    if (gv_wide_has(f, x) && gv_round_wide(gv_wide(f, x), y)) return 1;
    return gv_by_formula(f->whole, f->derivative, evaluate, x, y);
}

typedef gv_lanes_tail (*gv_tail_of)(gv_lanes a);

typedef struct { double from, to, zero; } gv_tail_range;

/* y of lanes with |x| >= from: of the others the bit is set. Beyond `to` x is clamped: for x > 0 that changes nothing,
   for x < 0 the result is -0 beyond `zero`, and between them the bit is set. */
GV_INLINE int gv_tail_lanes(const gv_piecewise *f, gv_tail_of tail, gv_tail_range range, gv_lanes x, double *y) {
    gv_lanes a = gv_lanes_abs(x), reached = gv_lanes_max(a, gv_lanes_all(range.from));
    int near = gv_lanes_differ(a, reached);
    if (near == (1 << GV_F64_LANES) - 1) return near;
    gv_lanes clamped = gv_lanes_at_most(reached, gv_lanes_all(range.to));
    gv_lanes zero = gv_lanes_all(0.0), one = gv_lanes_all(1.0);
    gv_lanes_tail t = tail(clamped);
    gv_lanes hi = t.hi * t.scale, lo = t.lo * t.scale, spare = gv_lanes_all(range.zero) - a;
    gv_lanes loss =
        gv_lanes_madd(hi, t.loss, f->derivative ? gv_lanes_by_sign(x, zero, gv_lanes_all(GV_LEADING_LOSS)) : zero);
    gv_lanes_sum v = {f->derivative ? -hi : hi, f->derivative ? -lo : lo, loss};
    int open = gv_round_lanes(f, x, v, y), clipped = gv_lanes_differ(reached, clamped);
    gv_lanes result = gv_lanes_load(y);
    gv_lanes_store(y, gv_lanes_by_sign(x, gv_lanes_by_sign(spare, -zero, result), result));
    clipped &= gv_lanes_differ(gv_lanes_by_sign(x, one, zero), zero); /* x < 0, a <= range.zero */
    clipped &= ~gv_lanes_differ(gv_lanes_by_sign(spare, one, zero), zero);
    return open | clipped | near;
}

/* Evaluates `count` inputs (y may be x by now) at these places of a block; x has room for GV_F64_LANES more. The number
   of those that are not decided now either, their places from `offset` on */
typedef size_t (*gv_redo_open)(double *x, const size_t *place, size_t count, double *y, size_t offset,
                               size_t *undecided);

GV_INLINE size_t gv_redo_block(const gv_piecewise *f, gv_evaluator evaluate, gv_tail_of tail, gv_tail_range range,
                               double *x, const size_t *place, size_t count, double *y, size_t offset,
                               size_t *undecided) {
    double result[GV_F64_BLOCK + GV_F64_LANES];
    int mask[GV_F64_BLOCK / GV_F64_LANES];
    size_t open = 0;
    for (size_t i = count; i < count + GV_F64_LANES; i++) x[i] = 0.0;
    for (size_t i = 0; i < count; i += GV_F64_LANES) /* alone, so that they run side by side */
        mask[i / GV_F64_LANES] = gv_tail_lanes(f, tail, range, gv_lanes_load(x + i), result + i);
    for (size_t i = 0; i < count; i++) {
        if (GV_LIKELY(!(mask[i / GV_F64_LANES] >> i % GV_F64_LANES & 1))) y[place[i]] = result[i];
        else if (!gv_redo(f, evaluate, x[i], y + place[i])) undecided[open++] = offset + place[i];
    }
    return open;
}

/* At most GV_F64_BLOCK inputs, a multiple of GV_F64_LANES */
GV_INLINE size_t gv_piece_block(const gv_piecewise *f, gv_redo_open redo, const double *x, double *y, size_t n,
                                size_t offset, size_t *undecided) {
    double step[GV_F64_BLOCK], open[GV_F64_BLOCK + GV_F64_LANES], last = (f->count - 1) / f->per_unit;
    size_t place[GV_F64_BLOCK + GV_F64_LANES], count = 0;
    for (size_t i = 0; i < n; i += GV_F64_LANES) { /* first, so that the rows are known when the tables are read */
        gv_lanes a = gv_lanes_at_most(gv_lanes_abs(gv_lanes_load(x + i)), gv_lanes_all(last));
        gv_lanes_store(step + i, a * gv_lanes_all(f->per_unit) + gv_lanes_all(0x1.8p52));
    }
    for (size_t i = 0; i < n; i += GV_F64_LANES) {
        gv_lanes lanes = gv_lanes_load(x + i);
        int mask = gv_piece_lanes(f, lanes, step + i, y + i);
        if (GV_LIKELY(mask == 0)) continue;
        count += gv_lanes_pack(lanes, mask, i, open + count, place + count);
    }
    return GV_LIKELY(count == 0) ? 0 : redo(open, place, count, y, offset, undecided);
}

GV_INLINE size_t gv_piecewise_f64(const gv_piecewise *f, gv_redo_open redo, const double *x, double *y, size_t n,
                                  size_t *undecided) {
    size_t count = 0, whole = n - n % GV_F64_LANES;
    for (size_t i = 0; i < whole; i += GV_F64_BLOCK)
        count += gv_piece_block(f, redo, x + i, y + i, whole - i < GV_F64_BLOCK ? whole - i : GV_F64_BLOCK, i,
                                undecided + count);
    if (n > whole) {
        double end[GV_F64_LANES] = {0.0}; /* zeros are always decided */
        memcpy(end, x + whole, (n - whole) * sizeof *x);
        count += gv_piece_block(f, redo, end, end, GV_F64_LANES, whole, undecided + count);
        memcpy(y + whole, end, (n - whole) * sizeof *y);
    }
    return count;
}

#define GV_DEFINE_F64(name, NAME, whole, derivative) \
    static size_t GV_ISA(gv_redo_##name)(double *x, const size_t *place, size_t count, double *y, size_t offset, \
                                         size_t *undecided) { \
        gv_tail_range range = {GV_##NAME##_TAIL_FROM, GV_##NAME##_TAIL_TO, GV_##NAME##_TAIL_ZERO}; \
        return gv_redo_block(&gv_##name##_piecewise, gv_value_of_##name, gv_tail_of_##name, range, x, place, count, y, \
                             offset, undecided); \
    } \
    static size_t GV_ISA(gv_cr_##name##_f64)(const double *x, double *y, size_t n, size_t *undecided) { \
        return gv_piecewise_f64(&gv_##name##_piecewise, GV_ISA(gv_redo_##name), x, y, n, undecided); \
    }
GV_PIECEWISE_FUNCTIONS(GV_DEFINE_F64)

#include "logistic_array.h"
#define GV_DEFINE_LOGISTIC_F64(name) \
    static size_t GV_ISA(gv_redo_##name)(double *x, const size_t *place, size_t count, double *y, size_t offset, \
                                         size_t *undecided) { \
        gv_logistic_form f = gv_logistic_form_of_##name(); \
        return gv_logistic_redo(&f, gv_value_of_##name, x, place, count, y, offset, undecided); \
    } \
    static size_t GV_ISA(gv_cr_##name##_f64)(const double *x, double *y, size_t n, size_t *undecided) { \
        gv_logistic_form f = gv_logistic_form_of_##name(); \
        return gv_logistic_f64(&f, GV_ISA(gv_redo_##name), x, y, n, undecided); \
    }
GV_LOGISTIC_FUNCTIONS(GV_DEFINE_LOGISTIC_F64)

#endif

#endif
