/* Values over arrays: one loop for each function, one clone of it for each instruction set, in the arithmetic of dd.h.
   Every clone gives the same bits (tests/truth/test_clones.py). */
#ifndef GV_TRUTH_LOOPS_H
#define GV_TRUTH_LOOPS_H
#include <float.h>
#include <stddef.h>
#include <string.h>
#include "../math/functions.h"
#include "clones.h"
#include "find.h"
#ifndef GV_QUICK
#include "../cr/wide.h"
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
    GV_CLONES static void gv_loop_##name(const double *x, gv_value *y, size_t n) { \
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

GV_BLOCK_FUNCTIONS(GV_DEFINE_BLOCK_LOOP)

#define GV_TABLE_ROW_IN_BLOCKS(name, function, branches) {#name, gv_loop_##name##_in_blocks},
static const gv_named_loop gv_in_blocks[] = {GV_BLOCK_FUNCTIONS(GV_TABLE_ROW_IN_BLOCKS){0, 0}};

#endif

#endif
