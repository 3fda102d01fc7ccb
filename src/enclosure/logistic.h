/* float32 f(x) = x q and f'(x) = q (1 + x s'(x) (1 - q)), q = sigmoid(s(x)) = 1/(1 + e^-s(x)): two doubles with the
   exact value between them, for x a float32 number. s is odd and increasing:

   function       s(x)                                  near: |x| at most, in f and in f'
   silu           x                                     83, 56
   gelu_sigmoid   1.702 x                               48, 32.5
   gelu_tanh      2 sqrt(2/pi) (x + 0.044715 x^3)       9.75, 6

   stage              function                 domain         the value              half the distance of the ends
   1 fast path        gv_<f>_near              |s| <= 83      x q                    1.125 2^-34 |x q|
                      gv_<f>_grad_near         |steep| <= 56  q (1 + steep (1 - q))  1.5 2^-34 q
   2 gathered lanes   gv_<f>_enclosure         every x        x q                    2^-42 |x q|
                      gv_<f>_grad_enclosure    every x        q + q steep (e q)      2.5 2^-42 (q + q |steep| e q)
   3 accurate path    gv_<f>, gv_<f>_grad      every x        math/<f>.h, in double-double

   steep = x s'(x), e = e^-s. The relative error of q is at most that of e (polynomial.h): e by a polynomial of degree
   7 or 8 in stage 1, as few operations as decide most roundings, of degree 9 in stage 2. In stage 1, 1 - q stands for
   e q: the errors of q and of 1 - q are then one error. In stage 2 x is clamped to x >= -200 (in f' to |x| <= 200) and
   s to |s| <= 500: beyond, results round as they do there, or are x, where f grows.

   Bounds     proved for every float32 x, with fma and without, by tests/prove/test_enclosures.py (docs/proofs.md,
              section 6)
   Results    = 0 of 2^32 inputs wrong, every instruction set: test_all_inputs of tests/truth/test_float32_kernels.py
   Stages     cr/float32.h runs them on the CPU, cuda/float32_cr.cu on a GPU
   Tables     tables.h, written by tools/make_enclosure_tables.py */

#define GV_LOGISTIC_ERROR 0x1p-42 /* of sigmoid(s), relative */
#define GV_NEAR_LOGISTIC_ERROR 0x1.2p-34 /* of sigmoid(s), relative */
#define GV_NEAR_STEEP_ERROR 0x1.8p-34 /* of 1 + steep (1 - q), with that of the factor q, |steep| <= 56; absolute */

/* Error of logistic_enclosures: |middle - f| in halves of the distance of the two doubles, 1 or less, proved. Found
   in every 4093th float32 number, without fma, by tools/state_core_errors.py:
     gv_gelu_tanh_near                 >= 0.84 at -0x1.167e3c0000000p+2
     gv_gelu_tanh_enclosure            >= 0.12 at -0x1.42a5ea0000000p+3
     gv_gelu_tanh_grad_near            >= 0.61 at -0x1.7d8ae60000000p+2
     gv_gelu_tanh_grad_enclosure       >= 0.051 at -0x1.58c1c40000000p+3
     gv_gelu_sigmoid_near              >= 0.82 at -0x1.c51d660000000p+4
     gv_gelu_sigmoid_enclosure         >= 0.12 at -0x1.f4647e0000000p+5
     gv_gelu_sigmoid_grad_near         >= 0.64 at -0x1.ffb2680000000p+4
     gv_gelu_sigmoid_grad_enclosure    >= 0.045 at -0x1.f4647e0000000p+5
     gv_silu_near                      >= 0.82 at -0x1.4794f40000000p+4
     gv_silu_enclosure                 >= 0.081 at -0x1.e2b7d80000000p+4
     gv_silu_grad_near                 >= 0.65 at -0x1.be8e980000000p+5
     gv_silu_grad_enclosure            >= 0.032 at -0x1.a6e3000000000p+6 */

#define gv_sigmoid_near GV_TYPED(gv_sigmoid_near)
GV_INLINE gv_interval gv_sigmoid_near(gv_real x, gv_real minus_s) {
    gv_real y = x / (gv_exp_short(minus_s) + 1.0);
    return gv_between(y * (1.0 - GV_NEAR_LOGISTIC_ERROR), y * (1.0 + GV_NEAR_LOGISTIC_ERROR));
}

#define gv_sigmoid_enclosure GV_TYPED(gv_sigmoid_enclosure)
GV_INLINE gv_interval gv_sigmoid_enclosure(gv_real x, gv_real minus_s) {
    gv_real y = x / (gv_exp_long(gv_max(gv_all(-500.0), gv_min(gv_all(500.0), minus_s))) + 1.0);
    return gv_between(y * (1.0 - GV_LOGISTIC_ERROR), y * (1.0 + GV_LOGISTIC_ERROR));
}

#define gv_sigmoid_grad_near GV_TYPED(gv_sigmoid_grad_near)
GV_INLINE gv_interval gv_sigmoid_grad_near(gv_real minus_s, gv_real steep) {
    gv_real q = 1.0 / (gv_exp_middle(minus_s) + 1.0), rest = 1.0 - q;
    return gv_between(q * gv_madd(steep, rest, gv_all(1.0 - GV_NEAR_STEEP_ERROR)),
                      q * gv_madd(steep, rest, gv_all(1.0 + GV_NEAR_STEEP_ERROR)));
}

#define gv_sigmoid_grad_enclosure GV_TYPED(gv_sigmoid_grad_enclosure)
GV_INLINE gv_interval gv_sigmoid_grad_enclosure(gv_real minus_s, gv_real steep) {
    gv_real e = gv_exp_long(gv_max(gv_all(-500.0), gv_min(gv_all(500.0), minus_s)));
    gv_real q = 1.0 / (e + 1.0), c = steep * (e * q), y = gv_madd(q, c, q);
    gv_real err = gv_madd(q, gv_magnitude(c), q) * (2.5 * GV_LOGISTIC_ERROR);
    return gv_between(y - err, y + err);
}

#define gv_clamped_low GV_TYPED(gv_clamped_low)
GV_INLINE gv_real gv_clamped_low(gv_real x) { return gv_max(gv_all(-200.0), x); }

#define gv_clamped GV_TYPED(gv_clamped)
GV_INLINE gv_real gv_clamped(gv_real x) { return gv_min(gv_all(200.0), gv_clamped_low(x)); }

/* -s(x) and steep of each function, and the largest |x| of stage 1, in f and in f' */
#define gv_minus_s_silu GV_TYPED(gv_minus_s_silu)
#define gv_steep_silu GV_TYPED(gv_steep_silu)
#define GV_NEAR_SILU 83.0f
#define GV_NEAR_SILU_GRAD 56.0f
GV_INLINE gv_real gv_minus_s_silu(gv_real x) { return -x; }
GV_INLINE gv_real gv_steep_silu(gv_real x) { return x; }

#define gv_minus_s_gelu_sigmoid GV_TYPED(gv_minus_s_gelu_sigmoid)
#define gv_steep_gelu_sigmoid GV_TYPED(gv_steep_gelu_sigmoid)
#define GV_NEAR_GELU_SIGMOID 48.0f
#define GV_NEAR_GELU_SIGMOID_GRAD 32.5f
GV_INLINE gv_real gv_minus_s_gelu_sigmoid(gv_real x) { return x * -0x1.b3b645a1cac08p+0 /* 1.702 */; }
GV_INLINE gv_real gv_steep_gelu_sigmoid(gv_real x) { return x * 0x1.b3b645a1cac08p+0; }

#define gv_minus_s_gelu_tanh GV_TYPED(gv_minus_s_gelu_tanh)
#define gv_steep_gelu_tanh GV_TYPED(gv_steep_gelu_tanh)
#define GV_NEAR_GELU_TANH 9.75f
#define GV_NEAR_GELU_TANH_GRAD 6.0f
#define GV_2_SQRT_2_PI 0x1.9884533d43651p+0 /* 2 sqrt(2/pi) */
#define GV_CUBIC 0x1.2444f2a4d8b4bp-4 /* 2 sqrt(2/pi) 0.044715 */
GV_INLINE gv_real gv_minus_s_gelu_tanh(gv_real x) {
    return x * gv_madd(x * x, gv_all(-GV_CUBIC), gv_all(-GV_2_SQRT_2_PI));
}
GV_INLINE gv_real gv_steep_gelu_tanh(gv_real x) {
    return x * gv_madd(x * x, gv_all(3.0 * GV_CUBIC), gv_all(GV_2_SQRT_2_PI));
}

#define GV_DEFINE_LOGISTIC(name) \
    GV_INLINE gv_interval GV_TYPED(gv_##name##_near)(gv_real x) { \
        return gv_sigmoid_near(x, GV_TYPED(gv_minus_s_##name)(x)); \
    } \
    GV_INLINE gv_interval GV_TYPED(gv_##name##_enclosure)(gv_real x) { \
        x = gv_clamped_low(x); \
        return gv_sigmoid_enclosure(x, GV_TYPED(gv_minus_s_##name)(x)); \
    } \
    GV_INLINE gv_interval GV_TYPED(gv_##name##_grad_near)(gv_real x) { \
        return gv_sigmoid_grad_near(GV_TYPED(gv_minus_s_##name)(x), GV_TYPED(gv_steep_##name)(x)); \
    } \
    GV_INLINE gv_interval GV_TYPED(gv_##name##_grad_enclosure)(gv_real x) { \
        x = gv_clamped(x); \
        return gv_sigmoid_grad_enclosure(GV_TYPED(gv_minus_s_##name)(x), GV_TYPED(gv_steep_##name)(x)); \
    }
GV_DEFINE_LOGISTIC(silu)
GV_DEFINE_LOGISTIC(gelu_sigmoid)
GV_DEFINE_LOGISTIC(gelu_tanh)
