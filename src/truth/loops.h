/* Values over arrays: one loop for each function, one clone of it for each instruction set, in the arithmetic of dd.h.
   Every clone gives the same bits (tests/truth/test_clones.py). */
#ifndef GV_TRUTH_LOOPS_H
#define GV_TRUTH_LOOPS_H
#include <float.h>
#include <stddef.h>
#include <string.h>
#include "clones.h"
#include "../math/functions.h"
#include "find.h"
#ifndef GV_QUICK
#define GV_HAVE_FMA 1 /* lanes.h: fma on every instruction set, for the same bits */
#define GV_F64_LANES 1
#include "../cr/logistic.h"
#include "../cr/wide.h"
#undef GV_HAVE_FMA
#include "blocks.h"
#endif

/* a row of a table; the last has no name */
typedef struct {
    const char *name;
    gv_loop loop;
} gv_named_loop;

GV_INLINE gv_loop gv_loop_named(const gv_named_loop *table, const char *name) {
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table->loop;
    return 0;
}

#define GV_DEFINE_LOOP(name, evaluate) \
    GV_FMA_CLONES static void gv_loop_##name(const double *x, gv_value *y, size_t n) { \
        for (size_t i = 0; i < n; i++) \
            y[i] = (x[i] == 0.0 || !(fabs(x[i]) <= DBL_MAX)) ? gv_exact(0.0) : evaluate(x[i]); \
    }
GV_FUNCTIONS(GV_DEFINE_LOOP)

#define GV_TABLE_ROW(name, evaluate) {#name, gv_loop_##name},
static const gv_named_loop gv_functions[] = {GV_FUNCTIONS(GV_TABLE_ROW){0, 0}};

#ifndef GV_QUICK

/* By pieces where these decide (cr/wide.h), else by the formula: ten times as fast */
GV_INLINE void gv_loop_by_pieces(const gv_piecewise *f, gv_loop formula, const double *x, gv_value *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int inside = gv_wide_has(f, x[i]);
        if (inside) y[i] = gv_wide(f, x[i]);
        if (!inside || !gv_wide_decides(y[i])) formula(x + i, y + i, 1);
    }
}

#define GV_DEFINE_LOOP_BY_PIECES(name, NAME, whole, derivative) \
    GV_CLONES static void gv_loop_##name##_by_pieces(const double *x, gv_value *y, size_t n) { \
        gv_loop_by_pieces(&gv_##name##_piecewise, gv_loop_##name, x, y, n); \
    }
GV_PIECEWISE_FUNCTIONS(GV_DEFINE_LOOP_BY_PIECES)

#define GV_TABLE_ROW_BY_PIECES(name, NAME, whole, derivative) {#name, gv_loop_##name##_by_pieces},
static const gv_named_loop gv_by_pieces[] = {GV_PIECEWISE_FUNCTIONS(GV_TABLE_ROW_BY_PIECES){0, 0}};

#define GV_WIDE_BLOCK 64

/* By one e^-s and one quotient where these decide (cr/logistic.h), else by the formula */
GV_INLINE void gv_loop_by_quotient(const gv_logistic_form *f, gv_loop formula, const double *x, gv_value *y, size_t n) {
    double hi[GV_WIDE_BLOCK], lo[GV_WIDE_BLOCK], loss[GV_WIDE_BLOCK];
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    for (size_t start = 0; start < n; start += GV_WIDE_BLOCK) {
        size_t count = n - start < GV_WIDE_BLOCK ? n - start : GV_WIDE_BLOCK;
        for (size_t i = 0; i < count; i++) { /* alone: vectors */
            gv_lanes_sum v = gv_logistic_wide(f, &powers, x[start + i]);
            hi[i] = v.hi;
            lo[i] = v.lo;
            loss[i] = v.loss;
        }
        for (size_t i = 0; i < count; i++) {
            gv_value *at = y + start + i;
            *at = gv_logistic_value(hi[i], lo[i], loss[i]);
            if (!gv_logistic_has(f, x[start + i]) || !gv_wide_decides(*at)) formula(x + start + i, at, 1);
        }
    }
}

#define GV_DEFINE_LOOP_BY_QUOTIENT(name) \
    GV_CLONES static void gv_loop_##name##_by_quotient(const double *x, gv_value *y, size_t n) { \
        gv_logistic_form f = gv_logistic_form_of_##name(); \
        gv_loop_by_quotient(&f, gv_loop_##name, x, y, n); \
    }
GV_LOGISTIC_FUNCTIONS(GV_DEFINE_LOOP_BY_QUOTIENT)

#define GV_TABLE_ROW_BY_QUOTIENT(name) {#name, gv_loop_##name##_by_quotient},
static const gv_named_loop gv_by_quotient[] = {GV_LOGISTIC_FUNCTIONS(GV_TABLE_ROW_BY_QUOTIENT){0, 0}};

GV_BLOCK_FUNCTIONS(GV_DEFINE_BLOCK_LOOP)

#define GV_TABLE_ROW_IN_BLOCKS(name, function, branches) {#name, gv_loop_##name##_in_blocks},
static const gv_named_loop gv_in_blocks[] = {GV_BLOCK_FUNCTIONS(GV_TABLE_ROW_IN_BLOCKS){0, 0}};

#endif

#endif
