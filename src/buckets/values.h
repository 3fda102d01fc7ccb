/* Values of strips of inputs, by vectors (known.h: of one). */
#ifndef GV_REDUCE_VALUES_H
#define GV_REDUCE_VALUES_H
#include "records.h"

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
            gv_known v = gv_known_far(x[i], GV_TYPED(gv_##name##_enclosure)(-fabs(x[i])), activation, limit, tail); \
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
