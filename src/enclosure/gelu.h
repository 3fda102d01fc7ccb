/* gelu and its derivative between two doubles, for x that is a float32 number.

   Near, |x| < GV_NEAR_LIMIT: Phi(x) = 1/2 + x H(x^2), H a polynomial in w = x^2 - limit^2/2.
   |computed Phi - Phi| < GV_NEAR_ERROR absolute: of little worth where Phi(x) is small, but then the rounding
   is left open and the other formula is asked.

   Everywhere: t(a) = a Q(a) = a M(a) phi(a), a = |x| up to 15, M the Mills ratio, a polynomial in
   u = (a - 4)/(a + 4); t within GV_FAR_ERROR relative. y = max(x, 0) - t. Beyond 15, t(15) < 2^-157 stands for
   something smaller yet. */

GV_INLINE gv_bracket GV_TYPED(gv_gelu_near)(gv_real x) {
    gv_real w = gv_madd(x, x, gv_all(-0.5 * GV_NEAR_LIMIT * GV_NEAR_LIMIT));
    gv_real h = gv_polynomial(gv_near_gelu, GV_NEAR_GELU_DEGREE, w);
    return gv_between(x * gv_madd(x, h, gv_all(0.5 - GV_NEAR_GELU_ERROR)),
                      x * gv_madd(x, h, gv_all(0.5 + GV_NEAR_GELU_ERROR)));
}

GV_INLINE gv_bracket GV_TYPED(gv_gelu_grad_near)(gv_real x) {
    gv_real w = gv_madd(x, x, gv_all(-0.5 * GV_NEAR_LIMIT * GV_NEAR_LIMIT));
    gv_real h = gv_polynomial(gv_near_gelu_grad, GV_NEAR_GELU_GRAD_DEGREE, w);
    return gv_between(gv_madd(x, h, gv_all(0.5 - GV_NEAR_GELU_GRAD_ERROR)),
                      gv_madd(x, h, gv_all(0.5 + GV_NEAR_GELU_GRAD_ERROR)));
}

#define gv_mills_bracket GV_TYPED(gv_mills_bracket)
/* M(a)/sqrt(2 pi) */
GV_INLINE gv_real gv_mills_bracket(gv_real a) {
    return gv_polynomial(gv_bracket_mills, GV_BRACKET_MILLS_DEGREE, (a - 4.0) / (a + 4.0));
}

GV_INLINE gv_bracket GV_TYPED(gv_gelu_bracket)(gv_real x) {
    gv_real a = gv_min(gv_magnitude(x), gv_all(15.0));
    gv_real t = a * gv_mills_bracket(a) * gv_exp_long(a * a * -0.5);
    gv_real base = gv_max(gv_all(0.0), x); /* NaN stays */
    return gv_between(base - t * (1.0 - GV_FAR_ERROR), base - t * (1.0 + GV_FAR_ERROR));
}

GV_INLINE gv_bracket GV_TYPED(gv_gelu_grad_bracket)(gv_real x) {
    gv_real a = gv_min(gv_magnitude(x), gv_all(15.0));
    gv_real density = gv_exp_long(a * a * -0.5), m = gv_mills_bracket(a);
    gv_real c = density * (a * 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */ - m);
    gv_real err = density * (a + m) * GV_FAR_ERROR;
    /* x > 0: 1 + c; x < 0: -c */
    gv_real base = gv_min(gv_all(1.0), gv_max(gv_all(0.0), x * 0x1p200)), y = base + gv_times_sign(c, x);
    return gv_between(y - err, y + err);
}
