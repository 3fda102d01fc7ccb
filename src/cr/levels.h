/* Whether this compiler builds one set of kernels for each x86-64 level, or one for NEON. */
#ifndef GV_CR_LEVELS_H
#define GV_CR_LEVELS_H
#include "cr.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define GV_LEVELS 1
#else
#define GV_LEVELS 0
#endif

#if defined(__AARCH64EL__) && defined(__GNUC__)
#define GV_NEON 1
#else
#define GV_NEON 0
#endif

/* Level 1: where there are no others, and in a test beside them */
#if !GV_LEVELS && !GV_NEON && !defined(GV_PORTABLE)
#define GV_PORTABLE
#endif

typedef struct {
    const char *name;
    gv_cr_bf16 kernel;
} gv_cr_bf16_function;

extern const gv_cr_bf16_function gv_cr_bf16_table_v4[];
extern const gv_cr_function gv_cr_table_v1[], gv_cr_table_v2[], gv_cr_table_v3[], gv_cr_table_v4[], gv_cr_table_neon[];

#endif
