/* Correctly rounded float64: gelu_tanh, gelu_sigmoid, silu and their derivatives, in lanes, by e^-s and one quotient.
   No table is wider than 32 numbers, so x may lie anywhere. Stages 1 and 2 of float64.h for them, the values by which
   float64 is judged (truth/loops.h), and both on a GPU (src/cuda).

   f(x) = x/(1 + E), f'(x) = (1 + E + w E)/(1 + E)^2,  E = e^-s(x), w = x s'(x)
   E = 2^(-i/32) e^r, r = i log(2)/32 - s, |r| <= log(2)/64 (1 + 2^-34); power is 2^(-i/32) rounded, and the logarithm of
   what it is off goes into r (tables/exp_f64.h). Once with 64 bits, once with 89:
     gv_logistic_exp         power (1 + r + r^2 P(r)), P of exp_lanes.h, in double
     gv_logistic_wide_exp    r, and the terms up to r^4, as hi + lo; six more in double

   Everything else is a pair hi + lo, good to 2^-93. So what is lost is lost in E, GV_LOGISTIC_LOSS or
   GV_LOGISTIC_WIDE_LOSS relative: proved by tests/prove/test_logistic.py, with fma and without (docs/proofs.md, section
   9). With dE = E d, |d| <= loss,
     f changes by E/(1 + E) d of it                   below loss |f|
     f' by E ((w - 1) - E (w + 1))/(1 + E)^3 d        below loss q (1 + |w (1 - q)|), q = 1/(1 + E)
   and a rounding test with that, and GV_LOGISTIC_FLOOR for what underflows, decides.

   x is clamped: above `highest` E is so small that f(x) rounds to x and f'(x) to 1 all the same; below `lowest` power
   is infinite or NaN (without fma, a product already where E > 2^996). That is never decided, nor is a NaN, a zero of
   f, or a result below 2^-968, which need not keep the bound. From `zero` down f(x) and f'(x) round to -0; from `least`
   up they are above 2^-600. */
#ifndef GV_CR_LOGISTIC_H
#define GV_CR_LOGISTIC_H
#include "lanes.h"
#include "exp_lanes.h"
#include "../tables/exp_f64.h"
#include "../truth/tables.h"
#include "../truth/value.h"

#if GV_HAVE_FMA
#define GV_LOGISTIC_LOSS 0x1.2p-64
#else
#define GV_LOGISTIC_LOSS 0x1.8p-64
#endif
#define GV_LOGISTIC_WIDE_LOSS 0x1.4p-90
#define GV_LOGISTIC_FLOOR 0x1p-1020

/* Where x is clamped: s(lowest) is -32770 to -32798 steps of log(2)/32, and 2^1024 has exponent bits of infinity */
#define GV_GELU_TANH_LOWEST -21.163
#define GV_GELU_TANH_HIGHEST 10.0
#define GV_GELU_TANH_LEAST -17.0
#define GV_GELU_TANH_ZERO -22.0
#define GV_GELU_SIGMOID_LOWEST -417.2
#define GV_GELU_SIGMOID_HIGHEST 40.0
#define GV_GELU_SIGMOID_LEAST -235.0
#define GV_GELU_SIGMOID_ZERO -450.0
#define GV_SILU_LOWEST -710.1
#define GV_SILU_HIGHEST 64.0
#define GV_SILU_LEAST -400.0
#define GV_SILU_ZERO -760.0

#define GV_LOGISTIC_FUNCTIONS(F) \
    F(gelu_tanh) \
    F(gelu_tanh_grad) \
    F(gelu_sigmoid) \
    F(gelu_sigmoid_grad) \
    F(silu) \
    F(silu_grad)

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
    double lowest, highest, least, zero;
} gv_logistic_form;

typedef struct { gv_lanes first, second, power; } gv_lanes_reduced; /* r = first + second */
typedef struct { gv_lanes hi, lo, inverse; } gv_lanes_divisor; /* inverse: 1/hi in double */

GV_INLINE gv_lanes gv_logistic_clamp(const gv_logistic_form *f, gv_lanes x) { /* NaN stays */
    return gv_lanes_min(gv_lanes_all(f->highest), gv_lanes_max(gv_lanes_all(f->lowest), x));
}

/* i as 3/2 2^52 + i */
GV_INLINE gv_lanes gv_logistic_steps(gv_lanes s) {
    return gv_lanes_madd(s, gv_lanes_all(0x1.71547652b82fep+5 /* 32/log(2) */), gv_lanes_all(0x1.8p52));
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
    gv_lanes shifted = gv_logistic_steps(s.hi), i = shifted - gv_lanes_all(0x1.8p52), off, power;
    gv_lanes_power(powers, shifted, &power, &off);
    gv_lanes first = gv_lanes_madd(i, gv_lanes_all(2.0 * gv_ln2_64_head), -s.hi); /* exact */
    gv_lanes second = gv_lanes_madd(i, gv_lanes_all(2.0 * gv_ln2_64_tail), off);
    if (!f->exact) second = second - s.lo;
    gv_lanes_reduced reduced = {first, second, power};
    return reduced;
}

GV_INLINE gv_lanes_pair gv_logistic_exp(gv_lanes_reduced by) {
    gv_lanes r = by.first + by.second, square = r * r;
    gv_lanes p = gv_lanes_madd(square, gv_lanes_exp_polynomial(r, square), by.second);
    gv_lanes hi = gv_lanes_madd(by.power, by.first + p, by.power);
    gv_lanes lo = gv_lanes_remainder(by.power, by.first, by.power - hi);
    return gv_lanes_pair_make(hi, gv_lanes_madd(by.power, p, lo));
}

/* i log(2)/32 - s, less the logarithm of what power is off; the first difference is exact */
GV_INLINE gv_lanes_pair gv_logistic_wide_rest(gv_lanes i, gv_lanes off, gv_lanes_pair s) {
    gv_lanes_pair steps = gv_lanes_product(i, gv_lanes_all(2.0 * gv_ln2_64.hi));
    gv_lanes low = (steps.lo - s.lo) + gv_lanes_madd(i, gv_lanes_all(2.0 * gv_ln2_64.lo), off);
    return gv_lanes_two_sum(steps.hi - s.hi, low);
}

/* power (1 + p) */
GV_INLINE gv_lanes_pair gv_logistic_scaled(gv_lanes power, gv_lanes_pair p) {
    gv_lanes_pair linear = gv_lanes_product(power, p.hi), e = gv_lanes_fast_two_sum(power, linear.hi);
    return gv_lanes_pair_make(e.hi, e.lo + gv_lanes_madd(power, p.lo, linear.lo));
}

/* e^-s with 89 bits */
GV_INLINE gv_lanes_pair gv_logistic_wide_exp(const gv_lanes_powers *powers, gv_lanes_pair s) {
    gv_lanes shifted = gv_logistic_steps(s.hi), off, power;
    gv_lanes_power(powers, shifted, &power, &off);
    gv_lanes_pair r = gv_logistic_wide_rest(shifted - gv_lanes_all(0x1.8p52), off, s);
    return gv_logistic_scaled(power, gv_lanes_expm1(r));
}

/* 1 + e */
GV_INLINE gv_lanes_divisor gv_logistic_divisor(gv_lanes_pair e) {
    gv_lanes one = gv_lanes_all(1.0), hi = one + e.hi;
    gv_lanes_divisor sum = {hi, ((gv_lanes_max(one, e.hi) - hi) + gv_lanes_min(one, e.hi)) + e.lo, one / hi};
    return sum;
}

GV_INLINE gv_lanes gv_logistic_loss(gv_lanes size, double relative) {
    return gv_lanes_madd(size, gv_lanes_all(relative), gv_lanes_all(GV_LOGISTIC_FLOOR));
}

/* x - y sum */
GV_INLINE gv_lanes gv_logistic_rest(gv_lanes x, gv_lanes y, gv_lanes_divisor sum) {
    return gv_lanes_madd(-y, sum.lo, gv_lanes_remainder(-y, sum.hi, x));
}

/* x/sum */
GV_INLINE gv_lanes_sum gv_logistic_function(gv_lanes x, gv_lanes_divisor sum, double relative) {
    gv_lanes y = x * sum.inverse;
    gv_lanes_sum v = {y, gv_logistic_rest(x, y, sum) * sum.inverse, gv_logistic_loss(gv_lanes_abs(y), relative)};
    return v;
}

/* q (1 + w (1 - q)), q = 1/sum; w (1 - q) < 1, and below -1 it is a multiple of 2^-52: two-sums of three operations */
GV_INLINE gv_lanes_sum gv_logistic_derivative(gv_lanes_pair w, int exact, gv_lanes_divisor sum, double relative) {
    gv_lanes one = gv_lanes_all(1.0), q = sum.inverse, q_lo = gv_logistic_rest(one, q, sum) * q;
    gv_lanes_pair rest = gv_lanes_fast_two_sum(one, -q), m = gv_lanes_product(w.hi, rest.hi);
    gv_lanes m_lo = gv_lanes_madd(w.hi, rest.lo - q_lo, m.lo);
    if (!exact) m_lo = gv_lanes_madd(w.lo, rest.hi, m_lo);
    gv_lanes_pair factor = gv_lanes_fast_two_sum(one, m.hi), y = gv_lanes_product(q, factor.hi);
    gv_lanes y_lo = gv_lanes_madd(q, factor.lo + m_lo, gv_lanes_madd(q_lo, factor.hi, y.lo));
    gv_lanes size = gv_lanes_madd(gv_lanes_abs(m.hi), q, q);
    gv_lanes_sum v = {y.hi, y_lo, gv_logistic_loss(size, relative)};
    return v;
}

/* y of GV_F64_LANES inputs; bit i of the result: lane i is not decided. steep: of gv_logistic_reduce */
GV_INLINE int gv_logistic_round(const gv_logistic_form *f, gv_lanes x, gv_lanes_divisor sum, const double *steep,
                                double *y) {
    if (f->derivative) {
        gv_lanes_pair w = f->exact ? gv_logistic_slope_silu(gv_lanes_min(gv_lanes_all(f->highest), x))
                                   : gv_lanes_pair_make(gv_lanes_load(steep), gv_lanes_load(steep + GV_F64_LANES));
        return gv_lanes_round(gv_logistic_derivative(w, f->exact, sum, GV_LOGISTIC_LOSS), y);
    }
    gv_lanes first = x * sum.inverse, rest = gv_logistic_rest(x, first, sum);
    gv_lanes loss = gv_logistic_loss(gv_lanes_abs(first), GV_LOGISTIC_LOSS);
    gv_lanes up = first + gv_lanes_madd(rest, sum.inverse, loss);
    gv_lanes down = first + gv_lanes_madd(rest, sum.inverse, -loss);
    gv_lanes_store(y, up);
    return gv_lanes_differ(up, down);
}

/* f(x) with 89 bits */
GV_INLINE gv_lanes_sum gv_logistic_wide(const gv_logistic_form *f, const gv_lanes_powers *powers, gv_lanes x) {
    gv_lanes clamped = gv_logistic_clamp(f, x);
    gv_lanes_divisor sum = gv_logistic_divisor(gv_logistic_wide_exp(powers, f->slope(clamped)));
    return f->derivative ? gv_logistic_derivative(f->steep(clamped), f->exact, sum, GV_LOGISTIC_WIDE_LOSS)
                         : gv_logistic_function(x, sum, GV_LOGISTIC_WIDE_LOSS);
}

/* Of one input, for values to judge by: whether f(x) is in range, and f(x) with its bound */
GV_INLINE int gv_logistic_has(const gv_logistic_form *f, double x) {
    return fabs(x) >= 0x1p-40 && x >= f->least && x <= f->highest;
}

GV_INLINE gv_value gv_logistic_value(double hi, double lo, double loss) {
    gv_dd y = gv_fast_two_sum(hi, lo);
    return gv_value_make(y.hi, y.lo, loss + fabs(y.lo) * 0x1p-51, 0);
}

#define GV_LOGISTIC_FORM(name, NAME, form, exact, derivative) \
    GV_INLINE gv_logistic_form gv_logistic_form_of_##name(void) { \
        gv_logistic_form f = { \
            gv_logistic_slope_##form, gv_logistic_steep_##form, exact,           derivative, GV_##NAME##_LOWEST, \
            GV_##NAME##_HIGHEST,      GV_##NAME##_LEAST,        GV_##NAME##_ZERO}; \
        return f; \
    }
GV_LOGISTIC_FORM(gelu_tanh, GELU_TANH, tanh, 0, 0)
GV_LOGISTIC_FORM(gelu_tanh_grad, GELU_TANH, tanh, 0, 1)
GV_LOGISTIC_FORM(gelu_sigmoid, GELU_SIGMOID, sigmoid, 0, 0)
GV_LOGISTIC_FORM(gelu_sigmoid_grad, GELU_SIGMOID, sigmoid, 0, 1)
GV_LOGISTIC_FORM(silu, SILU, silu, 1, 0)
GV_LOGISTIC_FORM(silu_grad, SILU, silu, 1, 1)

#endif
