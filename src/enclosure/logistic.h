/* x sigmoid(s) and its derivative between two doubles, for x that is a float32 number: s odd and increasing,
   q = 1/(1 + e), and q is relatively as near as e = e^-s is.
   Near, |s| <= 83 (|x s'(x)| <= 56 for derivatives): as few operations as will decide most roundings.
   Everywhere: x is held within +-200 and s within +-500; beyond, results round as they do there (or are x,
   where f grows); 1 - q = e q. */

#define gv_sigmoid_near GV_TYPED(gv_sigmoid_near)
GV_INLINE gv_bracket gv_sigmoid_near(gv_real x, gv_real minus_s) {
    gv_real y = x / (gv_exp_short(minus_s) + 1.0);
    return gv_between(y * (1.0 - GV_NEAR_LOGISTIC_ERROR), y * (1.0 + GV_NEAR_LOGISTIC_ERROR));
}

#define gv_sigmoid_bracket GV_TYPED(gv_sigmoid_bracket)
GV_INLINE gv_bracket gv_sigmoid_bracket(gv_real x, gv_real minus_s) {
    gv_real y = x / (gv_exp_long(gv_max(gv_all(-500.0), gv_min(gv_all(500.0), minus_s))) + 1.0);
    return gv_between(y * (1.0 - GV_LOGISTIC_ERROR), y * (1.0 + GV_LOGISTIC_ERROR));
}

/* q + q steep (1 - q), steep = x s'(x) */
/* q (1 + steep (1 - q)), steep = x s'(x) */
#define gv_sigmoid_grad_near GV_TYPED(gv_sigmoid_grad_near)
GV_INLINE gv_bracket gv_sigmoid_grad_near(gv_real minus_s, gv_real steep) {
    gv_real q = 1.0 / (gv_exp_middle(minus_s) + 1.0), rest = 1.0 - q;
    return gv_between(q * gv_madd(steep, rest, gv_all(1.0 - GV_NEAR_STEEP_ERROR)),
                      q * gv_madd(steep, rest, gv_all(1.0 + GV_NEAR_STEEP_ERROR)));
}

#define gv_sigmoid_grad_bracket GV_TYPED(gv_sigmoid_grad_bracket)
GV_INLINE gv_bracket gv_sigmoid_grad_bracket(gv_real minus_s, gv_real steep) {
    gv_real e = gv_exp_long(gv_max(gv_all(-500.0), gv_min(gv_all(500.0), minus_s)));
    gv_real q = 1.0 / (e + 1.0), c = steep * (e * q), y = gv_madd(q, c, q);
    gv_real err = gv_madd(q, gv_magnitude(c), q) * (2.5 * GV_LOGISTIC_ERROR);
    return gv_between(y - err, y + err);
}

#define gv_held_low GV_TYPED(gv_held_low)
GV_INLINE gv_real gv_held_low(gv_real x) { return gv_max(gv_all(-200.0), x); }

#define gv_held GV_TYPED(gv_held)
GV_INLINE gv_real gv_held(gv_real x) { return gv_min(gv_all(200.0), gv_held_low(x)); }

/* -s(x) and x s'(x) of each function, and the largest |x| that is near, for it and for its derivative */
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
    GV_INLINE gv_bracket GV_TYPED(gv_##name##_near)(gv_real x) { \
        return gv_sigmoid_near(x, GV_TYPED(gv_minus_s_##name)(x)); \
    } \
    GV_INLINE gv_bracket GV_TYPED(gv_##name##_bracket)(gv_real x) { \
        x = gv_held_low(x); \
        return gv_sigmoid_bracket(x, GV_TYPED(gv_minus_s_##name)(x)); \
    } \
    GV_INLINE gv_bracket GV_TYPED(gv_##name##_grad_near)(gv_real x) { \
        return gv_sigmoid_grad_near(GV_TYPED(gv_minus_s_##name)(x), GV_TYPED(gv_steep_##name)(x)); \
    } \
    GV_INLINE gv_bracket GV_TYPED(gv_##name##_grad_bracket)(gv_real x) { \
        x = gv_held(x); \
        return gv_sigmoid_grad_bracket(GV_TYPED(gv_minus_s_##name)(x), GV_TYPED(gv_steep_##name)(x)); \
    }
GV_DEFINE_LOGISTIC(silu)
GV_DEFINE_LOGISTIC(gelu_sigmoid)
GV_DEFINE_LOGISTIC(gelu_tanh)
