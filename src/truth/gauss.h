/* The Gauss integral in double-double: near zero by its Taylor series, in the tail by the Mills ratio.
   Truncations: proved by tests/prove/contracts.py, in test_core.py (docs/proofs.md, section 3). */
#ifndef GV_TRUTH_GAUSS_H
#define GV_TRUTH_GAUSS_H
#include "exp.h"

#define GV_HEAD_DOUBLES 14 /* |coefficient| < 2^-55 from there on */

/* sum of c[n] v^n, n = 0 .. degree, in double */
GV_INLINE gv_dd gv_quick_polynomial(const gv_dd *c, int degree, double v) {
    double q = c[degree].hi;
    for (int n = degree - 1; n >= 0; n--) q = q * v + c[n].hi;
    return gv_dd_from(q);
}

/* G(z) = integral of exp(-z t^2/2) over [0, 1], 0 <= z <= 1: sum of (-z/2)^n / (n! (2n+1)).
   Truncation below 2^-115; terms fall, G >= 0.85, so that no bits cancel. */
GV_INLINE gv_dd gv_gauss_head(gv_dd z) {
#ifdef GV_QUICK
    return gv_quick_polynomial(gv_head_coefficient, GV_HEAD_DOUBLES, z.hi);
#else
    double tail = gv_head_coefficient[GV_HEAD_DEGREE].hi;
    for (int n = GV_HEAD_DEGREE - 1; n >= GV_HEAD_DOUBLES; n--) tail = fma(tail, z.hi, gv_head_coefficient[n].hi);
    gv_dd p = gv_dd_from(tail);
    for (int n = GV_HEAD_DOUBLES - 1; n >= 0; n--) p = gv_dd_add(gv_dd_mul(p, z), gv_head_coefficient[n]);
    return p;
#endif
}

/* M(a) = Q(a)/phi(a), 1/2 <= a < 64: sixteen pieces an octave, Taylor of degree 21 in |u| <= 1.
   Coefficients fall by 2^-5 a degree; truncation below 2^-110 M(a). */
GV_INLINE gv_dd gv_mills(gv_dd a) {
    int octave = gv_exponent(a.hi);
    int place = (int)(a.hi * gv_power_of_two(4 - octave)) - GV_MILLS_PIECES;
    const gv_mills_piece *piece = &gv_mills_table[(octave + 1) * GV_MILLS_PIECES + place];
    gv_dd u = gv_dd_scale(gv_dd_add_d(a, -piece->centre), gv_power_of_two(5 - octave));
#ifdef GV_QUICK
    return gv_quick_polynomial(piece->pair, GV_MILLS_PAIRS - 1, u.hi);
#else
    double tail = piece->rest[GV_MILLS_DEGREE - GV_MILLS_PAIRS];
    for (int n = GV_MILLS_DEGREE - GV_MILLS_PAIRS - 1; n >= 0; n--) tail = fma(tail, u.hi, piece->rest[n]);
    gv_dd p = gv_dd_from(tail);
    for (int n = GV_MILLS_PAIRS - 1; n >= 0; n--) p = gv_dd_add(gv_dd_mul(p, u), piece->pair[n]);
    return p;
#endif
}

/* phi(x) 2^-k, |x| <= 40 */
GV_INLINE gv_scaled_dd gv_normal_density(double x) {
    gv_scaled_dd e = gv_exp(gv_dd_scale(gv_two_prod(x, x), -0.5));
    return gv_scaled(gv_dd_mul(e.m, gv_rsqrt_2pi), e.k);
}

/* Q(a) = phi(a) M(a), upper tail of the normal law, 1/2 <= a <= 40 */
GV_INLINE gv_scaled_dd gv_normal_tail(double a) {
    gv_scaled_dd d = gv_normal_density(a);
    return gv_scaled(gv_dd_mul(d.m, gv_mills(gv_dd_from(a))), d.k);
}

/* (Phi(x) - 1/2)/x, |x| <= 1 */
GV_INLINE gv_dd gv_normal_head(double x) { return gv_dd_mul(gv_gauss_head(gv_two_prod(x, x)), gv_rsqrt_2pi); }

/* erf(x), 2^-400 < |x| <= 0.7 */
GV_INLINE gv_dd gv_erf_head(double x) {
    gv_dd z = gv_dd_scale(gv_two_prod(x, x), 2.0);
    return gv_dd_mul_d(gv_dd_mul(gv_gauss_head(z), gv_2_rsqrt_pi), x);
}

/* erfc(x) = 2 Q(x sqrt 2), 0.4 <= x <= 28.2 */
GV_INLINE gv_scaled_dd gv_erfc_tail(double x) {
    gv_scaled_dd e = gv_exp(gv_dd_neg(gv_two_prod(x, x)));
    gv_dd m = gv_mills(gv_dd_mul_d(gv_sqrt2, x));
    return gv_scaled(gv_dd_scale(gv_dd_mul(gv_dd_mul(e.m, gv_rsqrt_2pi), m), 2.0), e.k);
}

#endif
