/* The kernels of x86-64-v4. */
#include "levels.h"
#if GV_LEVELS
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512dq,avx512vl,avx512bw"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512dq,avx512vl,avx512bw")
#endif
#include <immintrin.h>
#define GV_LANES 8
#define GV_F64_LANES 8
#define GV_FLOAT_LANES 16
#define GV_FLOAT_TABLES 1 /* float_tables.h */
#define GV_HAVE_FMA 1
#define GV_TYPED(name) name##_v4
#define GV_LEVEL_TABLE gv_cr_table_v4
#include "kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
