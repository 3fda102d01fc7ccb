/* f(x) = hi + lo within err, of one input, for the four GELUs and their derivatives.

   Plain doubles without fma, so that every machine finds the same bits and the same errors. By size of x, for
   f(x) = x g(x), where g is a distribution function (g(-x) = 1 - g(x)):
     |x| < 2^-12       series: x/2 + c x^2 (1 + d x^2), or its derivative 1/2 + 2 c x (1 + 2 d x^2)
     near              the middle of an interval around f(x) (../enclosure), |x| <= 4.5 or 2
     |x| <= limit      by f(-|x|), from its interval: f(x) = x + f(-x), f'(x) = 1 - f'(-x)
     |x| > tail        |f(-|x|)| < 2^-170 is given as 2^-171 within 2^-171
     between the two   err = infinity: double-double is asked (../truth)

   Bounds                                            kind     certificate
     series: |next term| 2^-40, which covers it
       (below 2^-45 of c x^2) and all roundings      proved   tests/prove/test_bucket_enclosures.py
     interval: half its width + 2^-50 |y|, for the
       rounding of its middle                        proved   tests/prove/test_enclosures.py
     tail: 2^-171                                    proved   tests/prove/test_bucket_enclosures.py
   All three against the reference at an input of each bucket: tests/buckets/test_reducer.py. */
#ifndef GV_BUCKETS_ENCLOSURE_H
#define GV_BUCKETS_ENCLOSURE_H
#include <math.h>
#include <stddef.h>
#include <string.h>
#define GV_LANES 1
#define GV_HAVE_FMA 0
#define GV_TYPED(name) name##_judged
#include "../enclosure/enclosures.h"

#define GV_TINY 0x1p-12
#define GV_TAIL 0x1p-171

typedef struct { double hi, lo, err; } gv_enclosure;

/* C++ has no compound literals */
GV_INLINE gv_enclosure gv_enclosure_make(double hi, double lo, double err) {
    gv_enclosure v = {hi, lo, err};
    return v;
}

/* c, d, and whether f is an activation or the derivative of one */
typedef struct {
    double quadratic, quartic;
    int activation;
} gv_series;

/* what comes after x/2 or 1/2 */
GV_INLINE double gv_next_terms(double x, gv_series series) {
    double square = x * x;
    if (series.activation) return series.quadratic * square * (1.0 + series.quartic * square);
    return 2.0 * series.quadratic * x * (1.0 + 2.0 * series.quartic * square);
}

GV_INLINE gv_enclosure gv_enclose_tiny(double x, gv_series series) {
    double leading = series.activation ? 0.5 * x : 0.5, next = gv_next_terms(x, series), sum = leading + next;
    return gv_enclosure_make(sum, next - (sum - leading), fabs(next) * 0x1p-40);
}

/* from an interval around f(x) */
GV_INLINE gv_enclosure gv_enclose_near(gv_interval v) {
    double y = 0.5 * (v.a + v.b);
    return gv_enclosure_make(y, 0.0, 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(y));
}

/* from an interval around f(-|x|) */
GV_INLINE gv_enclosure gv_enclose_far(double x, gv_interval v, int activation, double limit, double tail) {
    double a = fabs(x), leading = activation ? x : 1.0;
    double r = 0.5 * (v.a + v.b), e = 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(r);
    e = a > limit ? INFINITY : e;
    r = a > tail ? -GV_TAIL : r;
    e = a > tail ? GV_TAIL : e;
    double other = activation ? r : -r, sum = leading + other, rest = other - (sum - leading);
    return gv_enclosure_make(x > 0.0 ? sum : r, x > 0.0 ? rest : 0.0, e);
}

/* clang-format off */
#define GV_QUADRATIC_GELU 0x1.9884533d43651p-2         /* 1/sqrt(2 pi) */
#define GV_QUARTIC_GELU -0x1.5555555555555p-3          /* -1/6 */
#define GV_QUADRATIC_GELU_TANH 0x1.9884533d43651p-2    /* sqrt(2/pi)/2 */
#define GV_QUARTIC_GELU_TANH -0x1.5705d4c65b586p-3     /* 0.044715 - 2/(3 pi) */
#define GV_QUADRATIC_GELU_SIGMOID 0x1.b3b645a1cac08p-2 /* 1.702/4 */
#define GV_QUARTIC_GELU_SIGMOID -0x1.ee634c474804cp-3  /* -1.702^2/12 */
#define GV_QUADRATIC_SILU 0.25                         /* 1/4 */
#define GV_QUARTIC_SILU -0x1.5555555555555p-4          /* -1/12 */

/* name; activation (1) or derivative; c; d; from < x < to: near, by this interval; limit; tail */
#define GV_ENCLOSED_FUNCTIONS(F) \
    F(gelu, 1, GV_QUADRATIC_GELU, GV_QUARTIC_GELU, -2.0, 4.5, gv_gelu_near, 15.0, 15.5) \
    F(gelu_grad, 0, GV_QUADRATIC_GELU, GV_QUARTIC_GELU, -2.0, 4.5, gv_gelu_grad_near, 15.0, 15.5) \
    F(gelu_tanh, 1, GV_QUADRATIC_GELU_TANH, GV_QUARTIC_GELU_TANH, -2.0, 2.0, gv_gelu_tanh_enclosure, 12.0, 12.0) \
    F(gelu_tanh_grad, 0, GV_QUADRATIC_GELU_TANH, GV_QUARTIC_GELU_TANH, -2.0, 2.0, gv_gelu_tanh_grad_enclosure, \
      12.0, 12.0) \
    F(gelu_sigmoid, 1, GV_QUADRATIC_GELU_SIGMOID, GV_QUARTIC_GELU_SIGMOID, -2.0, 2.0, gv_gelu_sigmoid_enclosure, \
      80.0, 80.0) \
    F(gelu_sigmoid_grad, 0, GV_QUADRATIC_GELU_SIGMOID, GV_QUARTIC_GELU_SIGMOID, -2.0, 2.0, \
      gv_gelu_sigmoid_grad_enclosure, 80.0, 80.0) \
    F(silu, 1, GV_QUADRATIC_SILU, GV_QUARTIC_SILU, -2.0, 2.0, gv_silu_enclosure, 128.0, 128.0) \
    F(silu_grad, 0, GV_QUADRATIC_SILU, GV_QUARTIC_SILU, -2.0, 2.0, gv_silu_grad_enclosure, 128.0, 128.0)
/* clang-format on */

/* which of the three it is depends on x alone */
#define GV_DEFINE_ENCLOSE(name, activation, quadratic, quartic, from, to, near, limit, tail) \
    GV_INLINE gv_enclosure gv_enclose_##name(double x) { \
        if (fabs(x) < GV_TINY) return gv_enclose_tiny(x, gv_series_of(quadratic, quartic, activation)); \
        if (x > from && x < to) return gv_enclose_near(GV_TYPED(near)(x)); \
        return gv_enclose_far(x, GV_TYPED(gv_##name##_enclosure)(-fabs(x)), activation, limit, tail); \
    }

GV_INLINE gv_series gv_series_of(double quadratic, double quartic, int activation) {
    gv_series series = {quadratic, quartic, activation};
    return series;
}

GV_ENCLOSED_FUNCTIONS(GV_DEFINE_ENCLOSE)

#endif
