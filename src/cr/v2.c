/* The kernels of x86-64-v2. */
#include "levels.h"
#if GV_LEVELS
#include <emmintrin.h>
#define GV_LANES 2
#define GV_F64_LANES 2
#define GV_HAVE_FMA 0
#define GV_TYPED(name) name##_v2
#define GV_LEVEL_TABLE gv_cr_table_v2
#include "kernels.h"
#endif
