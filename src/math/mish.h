/* mish(x) = x tanh(log(1 + e^x)) and its derivative, for finite x != 0, any double. a = |x|, u = e^-a

             function                                  derivative
   a < 2^-80 3/5 x + 8/25 x^2                          as below
   a < 1     x (1 + 2u)/(1 + 2u + 2u^2) for x > 0      as below
   x > 0     x - 2 x u^2/(1 + 2u + 2u^2);              1 + 2 u^2 (2 x (1 + u) - d)/d^2, d = 1 + 2u + 2u^2;
             beside x from 100 on                      beside 1 from 100 on
   x >= -200 x u (2 + u)/(2 + 2u + u^2)                u ((2 + u) d - 4 a (1 + u))/d^2, d = 2 + 2u + u^2
   x < -200  x u, and what follows is less than 2^-287 (1 - a) u
             of it; between -2^-1140 and 0 from a = 800 on, both

   The derivative has a zero at -1.19..., and its terms cancel near 0.77: the bound is on what is subtracted.

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above each function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_MISH_H
#define GV_MATH_MISH_H
#include "../truth/exp.h"
#include "../truth/value.h"

/* 3/5 x + something within `unsure` of `rest`, times 2^k, for 2^-600 < |x|; rest > 0 is below 2^-80 |x|.
   Every fifth x has a number for 3/5 x: hi is that one then, and lo is 0. Both differences are exact, and so is their sum
   (docs/proofs.md, section 4). */
GV_INLINE gv_value gv_three_fifths(double x, double rest, double unsure, int k) {
    double hi = 0x1.3333333333333p-1 /* 3/5 */ * x;
    double lo = ((x - hi) + 2.0 * (x - 2.0 * hi)) / 5.0;
    return gv_value_make(hi, lo + rest, fabs(lo) * 0x1p-50 + unsure, k);
}

/* 1 + 2u + 2u^2; half of 2 + 2v + v^2 for u = v/2 */
GV_INLINE gv_dd gv_mish_denominator(gv_dd u) {
    return gv_dd_add_d(gv_dd_scale(gv_dd_add(u, gv_dd_mul(u, u)), 2.0), 1.0);
}

/* Error of mish: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.52d49c9c21e88p+3,
   >= 2^-100.9 |f| at -0x1.18f7738da1d24p+5 */
GV_INLINE gv_value gv_mish(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_three_fifths(x * 0x1p600, a * 0x1p400, a * 0x1p400, -600);
    if (a < 0x1p-80) {
        double rest = 0x1.47ae147ae147bp-2 /* 8/25 */ * x * x;
        return gv_three_fifths(x, rest, rest * 0x1p-48, 0);
    }
    if (x > 100.0) return gv_beside(x, -1.0);
    if (x < -800.0) return gv_vanishing(-1.0);
    gv_scaled_dd e = gv_exp(gv_dd_from(-a));
    if (x < -200.0) return gv_relative(gv_scaled(gv_dd_mul_d(e.m, x), e.k));
    gv_dd u = gv_dd_scale(e.m, gv_power_of_two(e.k));
    if (x < 0.0) { /* halves of 2 + u and of the denominator */
        gv_dd more = gv_dd_scale(u, 0.5), above = gv_dd_add_d(more, 1.0), below = gv_mish_denominator(more);
        return gv_relative(gv_scaled(gv_dd_mul_d(gv_dd_mul(e.m, gv_dd_div(above, below)), x), e.k));
    }
    gv_dd below = gv_mish_denominator(u);
    if (x < 1.0) return gv_sum(0.0, gv_dd_mul_d(gv_dd_div(gv_dd_add_d(gv_dd_scale(u, 2.0), 1.0), below), x));
    gv_dd share = gv_dd_div(gv_dd_scale(gv_dd_mul(u, u), -2.0), below);
    return gv_sum(x, gv_dd_mul_d(share, x));
}

/* Error of mish_grad: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at 0x1.4e9df05e07ef5p+4,
   >= 2^-97.0 |f| at -0x1.3116dc8d0c6b8p+0 */
GV_INLINE gv_value gv_mish_grad(double x) {
    double a = fabs(x);
    if (x > 100.0) return gv_beside(1.0, 1.0);
    if (x < -800.0) return gv_vanishing(-1.0);
    gv_scaled_dd e = gv_exp(gv_dd_from(-a));
    if (x < -200.0) return gv_times(gv_dd_mul(e.m, gv_dd_add_d(gv_dd_from(-a), 1.0)), e.m.hi * a, e.k);
    gv_dd u = gv_dd_scale(e.m, gv_power_of_two(e.k)), slope = gv_dd_mul_d(gv_dd_add_d(u, 1.0), 2.0 * a);
    if (x > 0.0) {
        gv_dd d = gv_mish_denominator(u), over = gv_dd_div(gv_dd_scale(gv_dd_mul(u, u), 2.0), gv_dd_mul(d, d));
        return gv_sum_weighted(1.0, gv_dd_mul(over, gv_dd_sub(slope, d)), 2.0 * over.hi * (slope.hi + d.hi));
    }
    gv_dd more = gv_dd_scale(u, 0.5), d = gv_mish_denominator(more); /* halves of 2 + u and of d */
    gv_dd first = gv_dd_mul(gv_dd_add_d(more, 1.0), d), over = gv_dd_div(e.m, gv_dd_mul(d, d));
    gv_dd rest = gv_dd_mul(over, gv_dd_sub(first, gv_dd_scale(slope, 0.5)));
    return gv_times(rest, 2.0 * over.hi * (first.hi + slope.hi), e.k);
}

#endif
