/* One loop a function, one clone an instruction set, in the arithmetic of dd.h. */
#ifndef GV_CORE_LOOPS_H
#define GV_CORE_LOOPS_H
#include <float.h>
#include <stddef.h>
#include <string.h>
#include "../math/functions.h"

#ifdef GV_CLONES
/* told what to do by whoever compiles: tests/clones.c */
#elif defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__)
#define GV_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define GV_CLONES
#endif

typedef void (*gv_loop)(const double *x, gv_value *y, size_t n);

#define GV_DEFINE_LOOP(name, evaluate) \
    GV_CLONES static void gv_loop_##name(const double *x, gv_value *y, size_t n) { \
        for (size_t i = 0; i < n; i++) \
            y[i] = (x[i] == 0.0 || !(fabs(x[i]) <= DBL_MAX)) ? gv_exact(0.0) : evaluate(x[i]); \
    }
GV_FUNCTIONS(GV_DEFINE_LOOP)

#define GV_TABLE_ROW(name, evaluate) {#name, gv_loop_##name},
static const struct { const char *name; gv_loop loop; } gv_functions[] = {GV_FUNCTIONS(GV_TABLE_ROW){0, 0}};

static gv_loop gv_find(const char *name) {
    for (int i = 0; gv_functions[i].name; i++)
        if (strcmp(gv_functions[i].name, name) == 0) return gv_functions[i].loop;
    return 0;
}

#endif
