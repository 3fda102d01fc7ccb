/* The kernels of aarch64, where every processor has NEON with fma. */
#include "levels.h"
#if GV_NEON
#include <arm_neon.h>
#define GV_LANES 2
#define GV_F64_LANES 2
#define GV_FLOAT_LANES 4
#define GV_FLOAT_TABLES 2 /* float_tables.h */
#define GV_HAVE_FMA 1
#define GV_TYPED(name) name##_neon
#define GV_LEVEL_TABLE gv_cr_table_neon
#include "kernels.h"
#endif
