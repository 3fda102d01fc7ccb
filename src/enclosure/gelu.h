/* float32 gelu(x) = x Phi(x) and gelu_grad(x) = Phi(x) + x phi(x): two doubles with the exact value between them, for x
   a float32 number.

   stage              function                 domain       the value         half the distance of the ends
   1 fast path        gv_gelu_near             |x| <= 4.5   x (1/2 + x H)     2^-44 |x|
                      gv_gelu_grad_near        |x| <= 4.5   1/2 + x K         2^-45
   2 gathered lanes   gv_gelu_enclosure        every x      max(x, 0) - t     2^-44 t
                      gv_gelu_grad_enclosure   x > 0        1 + c             2^-44 e^(-a^2/2) (a + m)
                                               x < 0        -c                the same
   3 accurate path    gv_gelu, gv_gelu_grad    every x      math/gelu.h, in double-double

   H = (Phi(x) - 1/2)/x and K = (gelu'(x) - 1/2)/x, polynomials in w = x^2 - 4.5^2/2 of degree 19 and 21, off by at most
   2^-46.0 and 2^-47.0. An absolute bound is of little use where Phi(x) is small: stage 2 decides there.
   a = min(|x|, 15), t = a m e^(-a^2/2) = a Q(a), c = e^(-a^2/2) (a/sqrt(2 pi) - m); m = M/sqrt(2 pi), M = Q/phi the
   Mills ratio, a polynomial in u = (a - 4)/(a + 4) of degree 18, off by at most 2^-52.9; e^(-a^2/2) by gv_exp_long of
   polynomial.h, off by 2^-45 relative. Beyond a = 15, t(15) < 2^-157 stands for something smaller still.

   Bounds     proved for every float32 x, with fma and without, by tests/prove/test_enclosures.py (docs/proofs.md,
              section 6); in stage 2, x > 0, but for the rounding of the last sum to double, which Results covers
   Results    = 0 of 2^32 inputs wrong, every instruction set: test_all_inputs of tests/truth/test_float32_kernels.py
   Stages     cr/float32.h runs them on the CPU, cuda/float32_cr.cu on a GPU
   Tables     tables.h, written by tools/make_enclosure_tables.py */

#define GV_NEAR_GELU_ERROR 0x1p-44 /* of Phi(x), absolute */
#define GV_NEAR_GELU_GRAD_ERROR 0x1p-45 /* absolute */
#define GV_TAIL_ERROR 0x1p-44 /* of t, relative; of c, relative to e^(-a^2/2) (a + m) */

/* Error of gelu_enclosures: |middle - f| in halves of the distance of the two doubles, 1 or less, proved. Found
   in every 4093th float32 number, without fma, by tools/state_core_errors.py:
     gv_gelu_near                      >= 0.63 at 0x1.1f259e0000000p+2
     gv_gelu_enclosure                 >= 0.43 at 0x1.32f1f00000000p+1
     gv_gelu_grad_near                 >= 0.58 at -0x1.1cfd040000000p+2
     gv_gelu_grad_enclosure            >= 0.25 at 0x1.55ac7a0000000p-29 */

GV_INLINE gv_interval GV_TYPED(gv_gelu_near)(gv_real x) {
    gv_real w = gv_madd(x, x, gv_all(-0.5 * GV_NEAR_LIMIT * GV_NEAR_LIMIT));
    gv_real h = gv_polynomial(gv_near_gelu, GV_NEAR_GELU_DEGREE, w);
    return gv_between(x * gv_madd(x, h, gv_all(0.5 - GV_NEAR_GELU_ERROR)),
                      x * gv_madd(x, h, gv_all(0.5 + GV_NEAR_GELU_ERROR)));
}

GV_INLINE gv_interval GV_TYPED(gv_gelu_grad_near)(gv_real x) {
    gv_real w = gv_madd(x, x, gv_all(-0.5 * GV_NEAR_LIMIT * GV_NEAR_LIMIT));
    gv_real k = gv_polynomial(gv_near_gelu_grad, GV_NEAR_GELU_GRAD_DEGREE, w);
    return gv_between(gv_madd(x, k, gv_all(0.5 - GV_NEAR_GELU_GRAD_ERROR)),
                      gv_madd(x, k, gv_all(0.5 + GV_NEAR_GELU_GRAD_ERROR)));
}

/* M(a)/sqrt(2 pi) */
#define gv_scaled_mills GV_TYPED(gv_scaled_mills)
GV_INLINE gv_real gv_scaled_mills(gv_real a) {
    return gv_polynomial(gv_tail_mills, GV_TAIL_MILLS_DEGREE, (a - 4.0) / (a + 4.0));
}

GV_INLINE gv_interval GV_TYPED(gv_gelu_enclosure)(gv_real x) {
    gv_real a = gv_min(gv_magnitude(x), gv_all(15.0));
    gv_real t = a * gv_scaled_mills(a) * gv_exp_long(a * a * -0.5);
    gv_real base = gv_max(gv_all(0.0), x); /* NaN stays */
    return gv_between(base - t * (1.0 - GV_TAIL_ERROR), base - t * (1.0 + GV_TAIL_ERROR));
}

GV_INLINE gv_interval GV_TYPED(gv_gelu_grad_enclosure)(gv_real x) {
    gv_real a = gv_min(gv_magnitude(x), gv_all(15.0));
    gv_real e = gv_exp_long(a * a * -0.5), m = gv_scaled_mills(a);
    gv_real c = e * (a * 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */ - m);
    gv_real err = e * (a + m) * GV_TAIL_ERROR;
    gv_real base = gv_min(gv_all(1.0), gv_max(gv_all(0.0), x * 0x1p200)), y = base + gv_times_sign(c, x);
    return gv_between(y - err, y + err);
}
