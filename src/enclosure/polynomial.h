/* Polynomials and exp for the number of number.h. Their errors are proved by tests/prove/enclosures.py: polynomials
   against their functions (APPROXIMATIONS), exp with its operations (exp_by); docs/proofs.md, section 6. */

/* c[0] + c[1] w + ... + c[n] w^n by even and odd parts, two chains of half the length */
#define gv_polynomial GV_TYPED(gv_polynomial)
GV_INLINE gv_real gv_polynomial(const double *c, int n, gv_real w) {
    gv_real square = w * w, p = gv_all(c[n]), q = gv_all(c[n - 1]);
    GV_UNROLL
    for (int k = n - 2; k >= 1; k -= 2) {
        p = gv_madd(p, square, gv_all(c[k]));
        q = gv_madd(q, square, gv_all(c[k - 1]));
    }
    if (n % 2) return gv_madd(p, w, q);
    return gv_madd(q, w, gv_madd(p, square, gv_all(c[0])));
}

/* e^s (1 + d), |s| <= 500, by a polynomial for e^r: s = n log(2) + r, n in the low bits of s/log(2) + 1.5 2^52;
   log(2) = head + tail, tail 0 for fewer operations */
#define gv_exp_by GV_TYPED(gv_exp_by)
GV_INLINE gv_real gv_exp_by(const double *c, int degree, double head, double tail, gv_real s) {
    gv_real shifted = gv_madd(s, gv_all(0x1.71547652b82fep+0 /* 1/log(2) */), gv_all(0x1.8p52));
    gv_real n = shifted - 0x1.8p52, r = gv_madd(n, gv_all(-head), s);
    gv_real p = gv_polynomial(c, degree, tail == 0.0 ? r : gv_madd(n, gv_all(-tail), r));
    return gv_as_real(gv_as_bits(p) + (gv_as_bits(shifted) << 52));
}

/* |d| < 2^-45 */
#define gv_exp_long GV_TYPED(gv_exp_long)
GV_INLINE gv_real gv_exp_long(gv_real s) {
    return gv_exp_by(gv_long_exp, GV_LONG_EXP_DEGREE, GV_LOG2_HEAD, GV_LOG2_TAIL, s);
}

/* |d| < 2^-39.7 */
#define gv_exp_middle GV_TYPED(gv_exp_middle)
GV_INLINE gv_real gv_exp_middle(gv_real s) { return gv_exp_by(gv_middle_exp, GV_MIDDLE_EXP_DEGREE, GV_LOG2, 0.0, s); }

/* |d| < 2^-33.9 */
#define gv_exp_short GV_TYPED(gv_exp_short)
GV_INLINE gv_real gv_exp_short(gv_real s) { return gv_exp_by(gv_short_exp, GV_SHORT_EXP_DEGREE, GV_LOG2, 0.0, s); }
