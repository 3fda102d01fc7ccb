/* f(x) = hi + lo within err for blocks of inputs, in plain doubles without fma: the same bits on every machine, so
   that errors measured anywhere are the same. From the brackets of src/bracket, which hold for x of at most 24 bits.

   |x| < 2^-12   x/2 + c x^2 (1 + d x^2), or its derivative: the next term is below 2^-45 of c x^2
   from < x < to the bracket of x
   |x| < limit   that of f(-|x|): f(x) = x + f(-x) and f'(x) = 1 - f'(-x) for x times a sigmoid shape
   |x| > tail    |f(-|x|)| < 2^-170, given as 2^-171 within 2^-171
   between them  not known here (err = inf): double-double is asked */
#ifndef GV_REDUCE_VALUES_H
#define GV_REDUCE_VALUES_H
#include <math.h>
#include <stddef.h>
#include <string.h>
#define GV_LANES 1
#define GV_HAVE_FMA 0
#define GV_TYPED(name) name##_judged
#include "../bracket/brackets.h"

/* whether some lo is not 0 */
typedef int (*gv_values)(const double *x, double *hi, double *lo, double *err, size_t n);

#define GV_TAIL 0x1p-171

#define GV_TINY 0x1p-12

typedef struct { double hi, lo, err; } gv_known;

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
    return (gv_known){sum, next - (sum - base), fabs(next) * 0x1p-40};
}

/* the middle of a bracket that holds for x itself */
GV_INLINE gv_known gv_known_near(gv_bracket v) {
    double y = 0.5 * (v.a + v.b);
    return (gv_known){y, 0.0, 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(y)};
}

/* from the bracket of f(-|x|) */
GV_INLINE gv_known gv_known_far(double x, gv_bracket v, int activation, double limit, double tail) {
    double a = fabs(x), base = activation ? x : 1.0;
    double r = 0.5 * (v.a + v.b), e = 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(r);
    e = a > limit ? INFINITY : e;
    r = a > tail ? -GV_TAIL : r;
    e = a > tail ? GV_TAIL : e;
    double other = activation ? r : -r, sum = base + other, rest = other - (sum - base);
    return (gv_known){x > 0.0 ? sum : r, x > 0.0 ? rest : 0.0, e};
}

typedef struct { int64_t tiny, close; } gv_strip_shares;

/* how many inputs are tiny, and how many lie between two numbers */
GV_CLONES static gv_strip_shares gv_share(const double *x, double from, double to, size_t n) {
    gv_strip_shares shares = {0, 0};
    for (size_t i = 0; i < n; i++) {
        shares.tiny += (int64_t)(fabs(x[i]) < GV_TINY);
        shares.close += (int64_t)(x[i] > from) & (int64_t)(x[i] < to);
    }
    return shares;
}

/* What is known of f at x is one of the three, by x alone; strips that need but one of them compute no other. */
#define GV_DEFINE_VALUES(name, activation, slope, bend, from, to, near, limit, tail) \
    GV_CLONES static void gv_values_tiny_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        for (size_t i = 0; i < n; i++) { \
            gv_known v = gv_known_tiny(x[i], (gv_series){slope, bend, activation}); \
            hi[i] = v.hi, lo[i] = v.lo, err[i] = v.err; \
        } \
    } \
    GV_CLONES static void gv_values_near_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        for (size_t i = 0; i < n; i++) { \
            gv_known v = gv_known_near(GV_TYPED(near)(x[i])); \
            hi[i] = v.hi, lo[i] = 0.0, err[i] = v.err; \
        } \
    } \
    GV_CLONES static void gv_values_far_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        for (size_t i = 0; i < n; i++) { \
            gv_known v = gv_known_far(x[i], GV_TYPED(gv_##name##_bracket)(-fabs(x[i])), activation, limit, tail); \
            hi[i] = v.hi, lo[i] = v.lo, err[i] = v.err; \
        } \
    } \
    static int gv_values_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        gv_strip_shares shares = gv_share(x, from, to, n); \
        size_t tiny = (size_t)shares.tiny, close = (size_t)shares.close; \
        if (tiny == n) { \
            gv_values_tiny_##name(x, hi, lo, err, n); \
            return 1; \
        } \
        if (close == n && !tiny) { \
            gv_values_near_##name(x, hi, lo, err, n); \
            return 0; \
        } \
        gv_values_far_##name(x, hi, lo, err, n); \
        for (size_t i = 0; (tiny || close) && i < n; i++) { \
            if (fabs(x[i]) < GV_TINY) gv_values_tiny_##name(x + i, hi + i, lo + i, err + i, 1); \
            else if (x[i] > from && x[i] < to) gv_values_near_##name(x + i, hi + i, lo + i, err + i, 1); \
        } \
        return tiny || !(x[n - 1] < 0.0); \
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
    F(gelu_tanh, 1, GV_SLOPE_GELU_TANH, GV_BEND_GELU_TANH, -2.0, 2.0, gv_gelu_tanh_bracket, 12.0, 12.0) \
    F(gelu_tanh_grad, 0, GV_SLOPE_GELU_TANH, GV_BEND_GELU_TANH, -2.0, 2.0, gv_gelu_tanh_grad_bracket, 12.0, 12.0) \
    F(gelu_sigmoid, 1, GV_SLOPE_GELU_SIGMOID, GV_BEND_GELU_SIGMOID, -2.0, 2.0, gv_gelu_sigmoid_bracket, 80.0, 80.0) \
    F(gelu_sigmoid_grad, 0, GV_SLOPE_GELU_SIGMOID, GV_BEND_GELU_SIGMOID, -2.0, 2.0, gv_gelu_sigmoid_grad_bracket, \
      80.0, 80.0) \
    F(silu, 1, GV_SLOPE_SILU, GV_BEND_SILU, -2.0, 2.0, gv_silu_bracket, 128.0, 128.0) \
    F(silu_grad, 0, GV_SLOPE_SILU, GV_BEND_SILU, -2.0, 2.0, gv_silu_grad_bracket, 128.0, 128.0)

GV_VALUED(GV_DEFINE_VALUES)

typedef struct { const char *name; gv_values values; gv_series series; } gv_valued_function;

#define GV_VALUES_ROW(name, activation, slope, bend, from, to, near, limit, tail) \
    {#name, gv_values_##name, {slope, bend, activation}},
static const gv_valued_function gv_valued[] = {GV_VALUED(GV_VALUES_ROW){0, 0, {0.0, 0.0, 0}}};

/* NULL for a function that has no values here */
static const gv_valued_function *gv_find_values(const char *name) {
    for (int i = 0; gv_valued[i].name; i++)
        if (strcmp(gv_valued[i].name, name) == 0) return &gv_valued[i];
    return 0;
}

#endif
