/* Enclosures of strips of inputs, by vectors: what enclosure.h says of each input, with the same bits; or, for
   consecutive float32, what the parabola of their block says (parabola.h). The bounds and their certificates are there.
   A strip of one kind of input runs one loop, others run two and redo single inputs. */
#ifndef GV_BUCKETS_STRIP_ENCLOSURE_H
#define GV_BUCKETS_STRIP_ENCLOSURE_H
#include "../truth/core.h"
#include "parabola.h"
#include "records.h"

typedef void (*gv_strip_loop)(const double *x, double *hi, double *lo, double *err, size_t n);
typedef gv_interval (*gv_interval_of)(double x);

/* One of the eight functions: its loops for inputs that are tiny, near (near_from < x < near_to), and all others. */
struct gv_enclosed_function {
    const char *name;
    gv_series series;
    double near_from, near_to;
    gv_strip_loop tiny, near, far;
};

/* ---- the loops ---- */

GV_INLINE void gv_enclose_tiny_strip(gv_series series, const double *x, double *hi, double *lo, double *err, size_t n) {
    for (size_t i = 0; i < n; i++) {
        gv_enclosure v = gv_enclose_tiny(x[i], series);
        hi[i] = v.hi, lo[i] = v.lo, err[i] = v.err;
    }
}

GV_INLINE void gv_enclose_near_strip(gv_interval_of interval, const double *x, double *hi, double *lo, double *err,
                                     size_t n) {
    for (size_t i = 0; i < n; i++) {
        gv_enclosure v = gv_enclose_near(interval(x[i]));
        hi[i] = v.hi, lo[i] = 0.0, err[i] = v.err;
    }
}

GV_INLINE void gv_enclose_far_strip(gv_interval_of interval, int activation, double limit, double tail, const double *x,
                                    double *hi, double *lo, double *err, size_t n) {
    for (size_t i = 0; i < n; i++) {
        gv_enclosure v = gv_enclose_far(x[i], interval(-fabs(x[i])), activation, limit, tail);
        hi[i] = v.hi, lo[i] = v.lo, err[i] = v.err;
    }
}

/* ... of each function, with its constants */
#define GV_DEFINE_STRIP_LOOPS(name, activation, quadratic, quartic, from, to, interval, limit, tail) \
    GV_CLONES static void gv_tiny_strip_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        gv_enclose_tiny_strip(gv_series_of(quadratic, quartic, activation), x, hi, lo, err, n); \
    } \
    GV_CLONES static void gv_near_strip_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        gv_enclose_near_strip(GV_TYPED(interval), x, hi, lo, err, n); \
    } \
    GV_CLONES static void gv_far_strip_##name(const double *x, double *hi, double *lo, double *err, size_t n) { \
        gv_enclose_far_strip(GV_TYPED(gv_##name##_enclosure), activation, limit, tail, x, hi, lo, err, n); \
    }
GV_ENCLOSED_FUNCTIONS(GV_DEFINE_STRIP_LOOPS)

#define GV_ENCLOSED_FUNCTION_ROW(name, activation, quadratic, quartic, from, to, interval, limit, tail) \
    {#name, \
     {quadratic, quartic, activation}, \
     from, \
     to, \
     gv_tiny_strip_##name, \
     gv_near_strip_##name, \
     gv_far_strip_##name},
static const gv_enclosed_function gv_enclosed_functions[] = {
    GV_ENCLOSED_FUNCTIONS(GV_ENCLOSED_FUNCTION_ROW){0, {0.0, 0.0, 0}, 0.0, 0.0, 0, 0, 0}};

/* NULL for a function that has no enclosures here */
static const gv_enclosed_function *gv_find_enclosed(const char *name) {
    for (int i = 0; gv_enclosed_functions[i].name; i++)
        if (strcmp(gv_enclosed_functions[i].name, name) == 0) return &gv_enclosed_functions[i];
    return NULL;
}

/* ---- a strip ---- */

typedef struct { int64_t tiny, near; } gv_strip_counts;

GV_CLONES static gv_strip_counts gv_count_inputs(const double *x, double near_from, double near_to, size_t n) {
    gv_strip_counts counts = {0, 0};
    for (size_t i = 0; i < n; i++) {
        counts.tiny += (int64_t)(fabs(x[i]) < GV_TINY);
        counts.near += (int64_t)(x[i] > near_from) & (int64_t)(x[i] < near_to);
    }
    return counts;
}

GV_INLINE int gv_is_tiny(double x) { return fabs(x) < GV_TINY; }

GV_INLINE int gv_is_near(const gv_enclosed_function *f, double x) { return x > f->near_from && x < f->near_to; }

/* By the ends of inputs that ascend or descend, and where these do not say it, by all. */
static gv_strip_counts gv_kinds_of_inputs(const gv_enclosed_function *f, const double *x, size_t n) {
    double first = x[0], last = x[n - 1];
    int crosses = !(first > 0.0 && last > 0.0) && !(first < 0.0 && last < 0.0);
    if (gv_is_tiny(first) && gv_is_tiny(last)) return (gv_strip_counts){(int64_t)n, 0};
    if (gv_is_near(f, first) && gv_is_near(f, last) && !crosses && !gv_is_tiny(first) && !gv_is_tiny(last))
        return (gv_strip_counts){0, (int64_t)n};
    return gv_count_inputs(x, f->near_from, f->near_to, n);
}

/* Enclosures of n inputs that ascend or descend; whether some lo is not 0. */
static int gv_enclose_strip(const gv_enclosed_function *f, const double *x, double *hi, double *lo, double *err,
                            size_t n) {
    gv_strip_counts counts = gv_kinds_of_inputs(f, x, n);
    size_t tiny = (size_t)counts.tiny, near = (size_t)counts.near;
    if (tiny == n) {
        f->tiny(x, hi, lo, err, n);
        return 1;
    }
    if (near == n && !tiny) {
        f->near(x, hi, lo, err, n);
        return 0;
    }
    f->far(x, hi, lo, err, n);
    for (size_t i = 0; (tiny || near) && i < n; i++) {
        if (gv_is_tiny(x[i])) f->tiny(x + i, hi + i, lo + i, err + i, 1);
        else if (gv_is_near(f, x[i])) f->near(x + i, hi + i, lo + i, err + i, 1);
    }
    return tiny || !(x[n - 1] < 0.0);
}

/* ---- enclosures along the parabola of a block ---- */

GV_CLONES static void gv_along_parabola(const uint32_t *x_bits, double *hi, double *lo, double *err, gv_parabola v,
                                        size_t n) {
    for (size_t i = 0; i < n; i++) {
        hi[i] = gv_on_parabola(&v, x_bits[i]);
        lo[i] = 0.0;
        err[i] = v.e;
    }
}

/* 0, and nothing done, where these consecutive inputs are few, or not of one block in the range */
static int gv_enclose_by_parabola(const gv_enclosed_function *f, const uint32_t *x_bits, double *hi, double *lo,
                                  double *err, size_t n) {
    if (!gv_has_parabola(x_bits[0], x_bits[n - 1], n)) return 0;
    gv_block_points p = gv_points_of_block(x_bits[0]);
    double y[3], rest[3], off[3];
    gv_enclose_strip(f, p.at, y, rest, off, 3);
    gv_along_parabola(x_bits, hi, lo, err, gv_parabola_through(&p, y, rest, off), n);
    return 1;
}

#endif
