/* Correctly rounded float64 where vectors have fma: gelu_tanh, gelu_sigmoid, silu and their derivatives, in lanes, by
   e^-s and one quotient. Stage 1 of float64.h for them; no table is wider than 32 numbers, so x may lie anywhere.

   f(x) = x/(1 + E), f'(x) = (1 + E + w E)/(1 + E)^2,  E = e^-s(x), w = x s'(x)
   E = 2^(-i/32) e^r, r = i log(2)/32 - s, |r| <= log(2)/64 (1 + 2^-34): power (1 + r + r^2 P(r)), P of tail.h, in double;
   power is 2^(-i/32) rounded, and the logarithm of what it is off goes into r (tables/exp_f64.h).

   Everything else is a pair hi + lo, good to 2^-95. So what is lost is lost in E, GV_LOGISTIC_LOSS relative: proved by
   tests/prove/test_logistic.py (docs/proofs.md, section 9). With dE = E d, |d| <= loss,
     f changes by E/(1 + E) d of it                   below loss |f|
     f' by E ((w - 1) - E (w + 1))/(1 + E)^3 d        below loss q (1 + |w (1 - q)|), q = 1/(1 + E)
   and a rounding test with that, and GV_LOGISTIC_FLOOR for what underflows, decides.

   x is clamped: above `highest` E is so small that f(x) rounds to x and f'(x) to 1 all the same; below `lowest` power
   is infinite or NaN. That is never decided, nor is a NaN, a zero of f, or a result below 2^-968, which need not keep
   the bound. */
#ifndef GV_CR_LOGISTIC_H
#define GV_CR_LOGISTIC_H
#include "lanes.h"
#include "tail.h"
#include "../tables/exp_f64.h"

#define GV_LOGISTIC_LOSS 0x1.2p-64
#define GV_LOGISTIC_FLOOR 0x1p-1020

/* Where x is clamped: s(lowest) is -32770 to -32798 steps of log(2)/32, and 2^1024 has exponent bits of infinity */
#define GV_GELU_TANH_LOWEST -21.163
#define GV_GELU_TANH_HIGHEST 10.0
#define GV_GELU_SIGMOID_LOWEST -417.2
#define GV_GELU_SIGMOID_HIGHEST 40.0
#define GV_SILU_LOWEST -710.1
#define GV_SILU_HIGHEST 64.0

GV_INLINE gv_lanes_pair gv_logistic_slope_silu(gv_lanes x) { return gv_lanes_pair_make(x, gv_lanes_all(0.0)); }

GV_INLINE gv_lanes_pair gv_logistic_slope_sigmoid(gv_lanes x) {
    gv_lanes_pair s = gv_lanes_product(gv_lanes_all(gv_1_702.hi), x);
    return gv_lanes_pair_make(s.hi, gv_lanes_madd(gv_lanes_all(gv_1_702.lo), x, s.lo));
}

/* x (k + m x^2) */
GV_INLINE gv_lanes_pair gv_logistic_cubic(gv_dd k, gv_dd m, gv_lanes x) {
    gv_lanes first = gv_lanes_all(k.hi);
    gv_lanes_pair square = gv_lanes_product(x, x), p = gv_lanes_product(gv_lanes_all(m.hi), square.hi);
    gv_lanes p_lo = gv_lanes_madd(gv_lanes_all(m.hi), square.lo, gv_lanes_madd(gv_lanes_all(m.lo), square.hi, p.lo));
    gv_lanes sum = first + p.hi, lost = (gv_lanes_max(first, p.hi) - sum) + gv_lanes_min(first, p.hi);
    gv_lanes_pair s = gv_lanes_product(x, sum);
    return gv_lanes_pair_make(s.hi, gv_lanes_madd(x, lost + (p_lo + gv_lanes_all(k.lo)), s.lo));
}

GV_INLINE gv_lanes_pair gv_logistic_slope_tanh(gv_lanes x) {
    return gv_logistic_cubic(gv_2_sqrt_2_pi, gv_exp_cubic, x);
}

GV_INLINE gv_lanes_pair gv_logistic_steep_tanh(gv_lanes x) {
    return gv_logistic_cubic(gv_2_sqrt_2_pi, gv_exp_cubic_3, x);
}

#define gv_logistic_steep_silu gv_logistic_slope_silu
#define gv_logistic_steep_sigmoid gv_logistic_slope_sigmoid

typedef gv_lanes_pair (*gv_logistic_argument)(gv_lanes x);

typedef struct {
    gv_logistic_argument slope, steep; /* s(x), w(x) */
    int exact, derivative; /* s = w = x */
    double lowest, highest;
} gv_logistic_form;

typedef struct { gv_lanes first, second, power; } gv_lanes_reduced; /* r = first + second */
typedef struct { gv_lanes hi, lo, inverse; } gv_lanes_divisor; /* inverse: 1/hi in double */

GV_INLINE gv_lanes gv_logistic_clamp(const gv_logistic_form *f, gv_lanes x) { /* NaN stays */
    return gv_lanes_min(gv_lanes_all(f->highest), gv_lanes_max(gv_lanes_all(f->lowest), x));
}

GV_INLINE gv_lanes_reduced gv_logistic_reduce(const gv_logistic_form *f, const gv_lanes_powers *powers, gv_lanes x,
                                              double *steep) {
    gv_lanes clamped = gv_logistic_clamp(f, x);
    gv_lanes_pair s = f->slope(clamped);
    if (f->derivative && !f->exact) {
        gv_lanes_pair w = f->steep(clamped);
        gv_lanes_store(steep, w.hi);
        gv_lanes_store(steep + GV_F64_LANES, w.lo);
    }
    gv_lanes shifted = gv_lanes_madd(s.hi, gv_lanes_all(0x1.71547652b82fep+5 /* 32/log(2) */), gv_lanes_all(0x1.8p52));
    gv_lanes i = shifted - gv_lanes_all(0x1.8p52), off, power;
    gv_lanes_power(powers, shifted, &power, &off);
    gv_lanes first = gv_lanes_madd(i, gv_lanes_all(2.0 * gv_ln2_64_head), -s.hi); /* exact */
    gv_lanes second = gv_lanes_madd(i, gv_lanes_all(2.0 * gv_ln2_64_tail), off);
    if (!f->exact) second = second - s.lo;
    gv_lanes_reduced reduced = {first, second, power};
    return reduced;
}

GV_INLINE gv_lanes_pair gv_logistic_exp(gv_lanes_reduced by) {
    gv_lanes r = by.first + by.second, square = r * r;
    gv_lanes p = gv_lanes_madd(square, gv_tail_polynomial(r, square), by.second);
    gv_lanes hi = gv_lanes_madd(by.power, by.first + p, by.power);
    gv_lanes lo = gv_lanes_madd(by.power, by.first, by.power - hi);
    return gv_lanes_pair_make(hi, gv_lanes_madd(by.power, p, lo));
}

/* 1 + e */
GV_INLINE gv_lanes_divisor gv_logistic_divisor(gv_lanes_pair e) {
    gv_lanes one = gv_lanes_all(1.0), hi = one + e.hi;
    gv_lanes_divisor sum = {hi, ((gv_lanes_max(one, e.hi) - hi) + gv_lanes_min(one, e.hi)) + e.lo, one / hi};
    return sum;
}

/* One rounding of f + loss, one of f - loss */
typedef struct { gv_lanes up, down; } gv_lanes_ends;

GV_INLINE gv_lanes gv_logistic_loss(gv_lanes size) {
    return gv_lanes_madd(size, gv_lanes_all(GV_LOGISTIC_LOSS), gv_lanes_all(GV_LOGISTIC_FLOOR));
}

/* x/sum */
GV_INLINE gv_lanes_ends gv_logistic_function(gv_lanes x, gv_lanes_divisor sum) {
    gv_lanes y = x * sum.inverse, loss = gv_logistic_loss(gv_lanes_abs(y));
    gv_lanes rest = gv_lanes_madd(-y, sum.lo, gv_lanes_madd(-y, sum.hi, x));
    gv_lanes_ends ends = {y + gv_lanes_madd(rest, sum.inverse, loss), y + gv_lanes_madd(rest, sum.inverse, -loss)};
    return ends;
}

/* q (1 + w (1 - q)), q = 1/sum; w (1 - q) < 1, and below -1 it is a multiple of 2^-52: two-sums of three operations */
GV_INLINE gv_lanes_ends gv_logistic_derivative(gv_lanes_pair w, int exact, gv_lanes_divisor sum) {
    gv_lanes one = gv_lanes_all(1.0), q = sum.inverse;
    gv_lanes q_lo = gv_lanes_madd(-q, sum.lo, gv_lanes_madd(-q, sum.hi, one)) * q;
    gv_lanes_pair rest = gv_lanes_fast_two_sum(one, -q), m = gv_lanes_product(w.hi, rest.hi);
    gv_lanes m_lo = gv_lanes_madd(w.hi, rest.lo - q_lo, m.lo);
    if (!exact) m_lo = gv_lanes_madd(w.lo, rest.hi, m_lo);
    gv_lanes_pair factor = gv_lanes_fast_two_sum(one, m.hi), y = gv_lanes_product(q, factor.hi);
    gv_lanes y_lo = gv_lanes_madd(q, factor.lo + m_lo, gv_lanes_madd(q_lo, factor.hi, y.lo));
    gv_lanes loss = gv_logistic_loss(gv_lanes_madd(gv_lanes_abs(m.hi), q, q));
    gv_lanes_ends ends = {y.hi + (y_lo + loss), y.hi + (y_lo - loss)};
    return ends;
}

/* y of GV_F64_LANES inputs; bit i of the result: lane i is not decided */
GV_INLINE int gv_logistic_round(const gv_logistic_form *f, gv_lanes x, gv_lanes_divisor sum, const double *steep,
                                double *y) {
    gv_lanes_ends ends;
    if (!f->derivative) {
        ends = gv_logistic_function(x, sum);
    } else {
        gv_lanes_pair w = f->exact ? gv_logistic_slope_silu(gv_lanes_min(gv_lanes_all(f->highest), x))
                                   : gv_lanes_pair_make(gv_lanes_load(steep), gv_lanes_load(steep + GV_F64_LANES));
        ends = gv_logistic_derivative(w, f->exact, sum);
    }
    gv_lanes_store(y, ends.up);
    return gv_lanes_differ(ends.up, ends.down);
}

GV_INLINE size_t gv_least(size_t a, size_t b) { return a < b ? a : b; }

/* n inputs, a multiple of GV_F64_LANES and not 0; what is not decided goes to `redo` with its place from `offset` on.
   Four groups of lanes are in work at once, each at another step, so that few operations wait for one another. */
GV_INLINE size_t gv_logistic_block(const gv_logistic_form *f, gv_redo_open redo, const double *x, double *y, size_t n,
                                   size_t offset, size_t *undecided) {
    double open[GV_F64_BLOCK + GV_F64_LANES];
    size_t place[GV_F64_BLOCK + GV_F64_LANES], count = 0, left = 0, step = GV_F64_LANES, last = n - step;
    double steep[4][2 * GV_F64_LANES] GV_ROW_ALIGNED; /* of the groups in work */
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    gv_lanes_pair e = gv_logistic_exp(gv_logistic_reduce(f, &powers, gv_lanes_load(x), steep[0]));
    gv_lanes_divisor sum = gv_logistic_divisor(e);
    e = gv_logistic_exp(gv_logistic_reduce(f, &powers, gv_lanes_load(x + gv_least(step, last)), steep[1]));
    gv_lanes_reduced r = gv_logistic_reduce(f, &powers, gv_lanes_load(x + gv_least(2 * step, last)), steep[2]);
    for (size_t i = 0, group = 0; i < n; i += step, group++) {
        gv_lanes lanes = gv_lanes_load(x + i), ahead = gv_lanes_load(x + gv_least(i + 3 * step, last));
        gv_lanes_reduced next_r = gv_logistic_reduce(f, &powers, ahead, steep[(group + 3) % 4]);
        gv_lanes_pair next_e = gv_logistic_exp(r);
        gv_lanes_divisor next_sum = gv_logistic_divisor(e);
        int mask = gv_logistic_round(f, lanes, sum, steep[group % 4], y + i);
        r = next_r;
        e = next_e;
        sum = next_sum;
        if (GV_LIKELY(mask == 0)) continue;
        count += gv_lanes_pack(lanes, mask, i, open + count, place + count);
        if (count <= GV_F64_BLOCK - GV_F64_LANES) continue;
        left += redo(open, place, count, y, offset, undecided + left);
        count = 0;
    }
    return left + redo(open, place, count, y, offset, undecided + left);
}

GV_INLINE size_t gv_logistic_f64(const gv_logistic_form *f, gv_redo_open redo, const double *x, double *y, size_t n,
                                 size_t *undecided) {
    size_t whole = n - n % GV_F64_LANES, left = whole ? gv_logistic_block(f, redo, x, y, whole, 0, undecided) : 0;
    if (n > whole) {
        double end[GV_F64_LANES] = {0.0}; /* zeros are always decided */
        memcpy(end, x + whole, (n - whole) * sizeof *x);
        left += gv_logistic_block(f, redo, end, end, GV_F64_LANES, whole, undecided + left);
        memcpy(y + whole, end, (n - whole) * sizeof *y);
    }
    return left;
}

#define GV_LOGISTIC_FORM(name, NAME, form, exact, derivative) \
    GV_INLINE gv_logistic_form gv_logistic_form_of_##name(void) { \
        gv_logistic_form f = {gv_logistic_slope_##form, gv_logistic_steep_##form, exact, derivative, \
                              GV_##NAME##_LOWEST,       GV_##NAME##_HIGHEST}; \
        return f; \
    }
GV_LOGISTIC_FORM(gelu_tanh, GELU_TANH, tanh, 0, 0)
GV_LOGISTIC_FORM(gelu_tanh_grad, GELU_TANH, tanh, 0, 1)
GV_LOGISTIC_FORM(gelu_sigmoid, GELU_SIGMOID, sigmoid, 0, 0)
GV_LOGISTIC_FORM(gelu_sigmoid_grad, GELU_SIGMOID, sigmoid, 0, 1)
GV_LOGISTIC_FORM(silu, SILU, silu, 1, 0)
GV_LOGISTIC_FORM(silu_grad, SILU, silu, 1, 1)

#endif
