/* The kernels of portable C: for processors without others, and for tests. */
#include "levels.h"
#ifdef GV_PORTABLE
#define GV_LANES 1
#define GV_F64_LANES 1
#define GV_HAVE_FMA 0
#define GV_TYPED(name) name##_v1
#define GV_LEVEL_TABLE gv_cr_table_v1
#include "kernels.h"
#endif
