#include <string.h>
#include "levels.h"

int gv_cr_best_level(void) {
#if GV_LEVELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return 4;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? 3 : 2;
#else
    return GV_NEON ? 2 : 1;
#endif
}

static const gv_cr_function *gv_cr_table(int level) {
#if GV_LEVELS
    if (level > gv_cr_best_level()) return 0;
    if (level == 2) return gv_cr_table_v2;
    if (level == 3) return gv_cr_table_v3;
    if (level == 4) return gv_cr_table_v4;
#elif GV_NEON
    if (level == 2) return gv_cr_table_neon;
#endif
#ifdef GV_PORTABLE
    if (level == 1) return gv_cr_table_v1;
#endif
    return 0;
}

gv_cr_bf16 gv_cr_find_bf16(const char *name, int level) {
#if GV_LEVELS
    if (gv_cr_best_level() < 4 || (level && level != 4)) return 0;
    for (const gv_cr_bf16_function *f = gv_cr_bf16_table_v4; f->name; f++)
        if (strcmp(f->name, name) == 0) return f->kernel;
#else
    (void)name, (void)level;
#endif
    return 0;
}

const gv_cr_function *gv_cr_find(const char *name, int level) {
    const gv_cr_function *f = gv_cr_table(level ? level : gv_cr_best_level());
    for (; f && f->name; f++)
        if (strcmp(f->name, name) == 0) return f;
    return 0;
}
