/* The kernels of x86-64-v3. */
#include "levels.h"
#if GV_LEVELS
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt")
#endif
#include <immintrin.h>
#define GV_LANES 4
#define GV_F64_LANES 4
#define GV_FLOAT_LANES 8
#define GV_FLOAT_TABLES 2 /* float_tables.h */
#define GV_HAVE_FMA 1
#define GV_TYPED(name) name##_v3
#define GV_LEVEL_TABLE gv_cr_table_v3
#include "kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
