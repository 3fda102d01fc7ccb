/* f(x) = hi + lo within err for blocks of inputs, in plain doubles without fma: the same bits on every machine, so
   that errors measured anywhere are the same. From the brackets of src/bracket, which hold for x of at most 24 bits.

   Only the negative side is evaluated: f(x) = x + f(-x) and f'(x) = 1 - f'(-x) for x times a sigmoid shape.
   |x| < 2^-20   x/2 + c x^2 and 1/2 + 2 c x, the next term below 2^-41 of the last
   |x| < limit   the bracket
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

typedef void (*gv_values)(const double *x, double *hi, double *lo, double *err, size_t n);

#define GV_TAIL 0x1p-171

#define GV_DEFINE_VALUES(name, activation, slope, limit, tail) \
    GV_CLONES static void gv_values_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        for (size_t i = 0; i < n; i++) { \
            double a = fabs(x[i]), base = activation ? x[i] : 1.0; \
            gv_bracket v = GV_TYPED(gv_##name##_bracket)(-a); \
            double r = 0.5 * (v.a + v.b), e = 0.5 * fabs(v.b - v.a) + 0x1p-50 * fabs(r); \
            e = a > limit ? INFINITY : e; \
            r = a > tail ? -GV_TAIL : r; \
            e = a > tail ? GV_TAIL : e; \
            double other = activation ? r : -r, sum = base + other, rest = other - (sum - base); \
            double y = x[i] > 0.0 ? sum : r, z = x[i] > 0.0 ? rest : 0.0; \
            double next = activation ? slope * x[i] * x[i] : 2.0 * slope * x[i]; \
            int tiny = a < 0x1p-20; \
            hi[i] = tiny ? 0.5 * base : y; \
            lo[i] = tiny ? next : z; \
            err[i] = tiny ? fabs(next) * 0x1p-40 : e; \
        } \
    }

#define GV_VALUED(F) \
    F(gelu, 1, 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */, 15.0, 15.5) \
    F(gelu_grad, 0, 0x1.9884533d43651p-2 /* 1/sqrt(2 pi) */, 15.0, 15.5) \
    F(gelu_tanh, 1, 0x1.9884533d43651p-2 /* sqrt(2/pi)/2 */, 12.0, 12.0) \
    F(gelu_tanh_grad, 0, 0x1.9884533d43651p-2 /* sqrt(2/pi)/2 */, 12.0, 12.0) \
    F(gelu_sigmoid, 1, 0x1.b3b645a1cac08p-2 /* 1.702/4 */, 80.0, 80.0) \
    F(gelu_sigmoid_grad, 0, 0x1.b3b645a1cac08p-2 /* 1.702/4 */, 80.0, 80.0) \
    F(silu, 1, 0.25, 128.0, 128.0) \
    F(silu_grad, 0, 0.25, 128.0, 128.0)

GV_VALUED(GV_DEFINE_VALUES)

#define GV_VALUES_ROW(name, activation, slope, limit, tail) {#name, gv_values_##name},
static const struct { const char *name; gv_values values; } gv_valued[] = {GV_VALUED(GV_VALUES_ROW){0, 0}};

static gv_values gv_find_values(const char *name) {
    for (int i = 0; gv_valued[i].name; i++)
        if (strcmp(gv_valued[i].name, name) == 0) return gv_valued[i].values;
    return 0;
}

#endif
