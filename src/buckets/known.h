/* f(x) = hi + lo within err for blocks of inputs, in plain doubles without fma: the same bits on every machine, so
   that errors measured anywhere are the same. From the brackets of src/bracket, which hold for x of at most 24 bits.

   |x| < 2^-12   x/2 + c x^2 (1 + d x^2), or its derivative: the next term is below 2^-45 of c x^2
   from < x < to the bracket of x
   |x| < limit   that of f(-|x|): f(x) = x + f(-x) and f'(x) = 1 - f'(-x) for x times a sigmoid shape
   |x| > tail    |f(-|x|)| < 2^-170, given as 2^-171 within 2^-171
   between them  not known here (err = inf): double-double is asked */
#ifndef GV_REDUCE_KNOWN_H
#define GV_REDUCE_KNOWN_H
#include <math.h>
#include <stddef.h>
#include <string.h>
#define GV_LANES 1
#define GV_HAVE_FMA 0
#define GV_TYPED(name) name##_judged
#include "../enclosure/enclosures.h"

#define GV_TAIL 0x1p-171

#define GV_TINY 0x1p-12

typedef struct { double hi, lo, err; } gv_known;

/* C++ has no compound literals */
GV_INLINE gv_known gv_known_make(double hi, double lo, double err) {
    gv_known v = {hi, lo, err};
    return v;
}

/* c, d, and whether f is an activation or the derivative of one */
typedef struct { double slope, bend; int activation; } gv_series;

/* what comes after x/2 or 1/2 */
GV_INLINE double gv_next_terms(double x, gv_series series) {
    double square = x * x;
    if (series.activation) return series.slope * square * (1.0 + series.bend * square);
    return 2.0 * series.slope * x * (1.0 + 2.0 * series.bend * square);
}

/* near zero */
GV_INLINE gv_known gv_known_tiny(double x, gv_series series) {
    double base = series.activation ? 0.5 * x : 0.5, next = gv_next_terms(x, series), sum = base + next;
    return gv_known_make(sum, next - (sum - base), fabs(next) * 0x1p-40);
}

/* the middle of a bracket that holds for x itself */
GV_INLINE gv_known gv_known_near(gv_interval v) {
    double y = 0.5 * (v.a + v.b);
    return gv_known_make(y, 0.0, 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(y));
}

/* from the bracket of f(-|x|) */
GV_INLINE gv_known gv_known_far(double x, gv_interval v, int activation, double limit, double tail) {
    double a = fabs(x), base = activation ? x : 1.0;
    double r = 0.5 * (v.a + v.b), e = 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(r);
    e = a > limit ? INFINITY : e;
    r = a > tail ? -GV_TAIL : r;
    e = a > tail ? GV_TAIL : e;
    double other = activation ? r : -r, sum = base + other, rest = other - (sum - base);
    return gv_known_make(x > 0.0 ? sum : r, x > 0.0 ? rest : 0.0, e);
}

#define GV_SLOPE_GELU 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */
#define GV_BEND_GELU -0x1.5555555555555p-3 /* -1/6 */
#define GV_SLOPE_GELU_TANH 0x1.9884533d43651p-2 /* sqrt(2/pi)/2 */
#define GV_BEND_GELU_TANH -0x1.5705d4c65b586p-3 /* 0.044715 - 2/(3 pi) */
#define GV_SLOPE_GELU_SIGMOID 0x1.b3b645a1cac08p-2 /* 1.702/4 */
#define GV_BEND_GELU_SIGMOID -0x1.ee634c474804cp-3 /* -1.702^2/12 */
#define GV_SLOPE_SILU 0.25 /* 1/4 */
#define GV_BEND_SILU -0x1.5555555555555p-4 /* -1/12 */

/* activation or gradient; c; d; where the bracket `near` is taken; limit and tail of the other */
#define GV_VALUED(F) \
    F(gelu, 1, GV_SLOPE_GELU, GV_BEND_GELU, -2.0, 4.5, gv_gelu_near, 15.0, 15.5) \
    F(gelu_grad, 0, GV_SLOPE_GELU, GV_BEND_GELU, -2.0, 4.5, gv_gelu_grad_near, 15.0, 15.5) \
    F(gelu_tanh, 1, GV_SLOPE_GELU_TANH, GV_BEND_GELU_TANH, -2.0, 2.0, gv_gelu_tanh_enclosure, 12.0, 12.0) \
    F(gelu_tanh_grad, 0, GV_SLOPE_GELU_TANH, GV_BEND_GELU_TANH, -2.0, 2.0, gv_gelu_tanh_grad_enclosure, 12.0, 12.0) \
    F(gelu_sigmoid, 1, GV_SLOPE_GELU_SIGMOID, GV_BEND_GELU_SIGMOID, -2.0, 2.0, gv_gelu_sigmoid_enclosure, 80.0, 80.0) \
    F(gelu_sigmoid_grad, 0, GV_SLOPE_GELU_SIGMOID, GV_BEND_GELU_SIGMOID, -2.0, 2.0, gv_gelu_sigmoid_grad_enclosure, \
      80.0, 80.0) \
    F(silu, 1, GV_SLOPE_SILU, GV_BEND_SILU, -2.0, 2.0, gv_silu_enclosure, 128.0, 128.0) \
    F(silu_grad, 0, GV_SLOPE_SILU, GV_BEND_SILU, -2.0, 2.0, gv_silu_grad_enclosure, 128.0, 128.0)

/* of one input: which of the three hangs on x alone */
#define GV_DEFINE_KNOWN(name, activation, slope, bend, from, to, near, limit, tail) \
    GV_INLINE gv_known gv_known_##name(double x) { \
        gv_series series = {slope, bend, activation}; \
        if (fabs(x) < GV_TINY) return gv_known_tiny(x, series); \
        if (x > from && x < to) return gv_known_near(GV_TYPED(near)(x)); \
        return gv_known_far(x, GV_TYPED(gv_##name##_enclosure)(-fabs(x)), activation, limit, tail); \
    }
GV_VALUED(GV_DEFINE_KNOWN)

#endif
