/* The kernels of one instruction set. The includer defines GV_LANES, GV_HAVE_FMA, GV_F64_LANES, GV_TYPED and
   GV_LEVEL_TABLE. */
#include "cr.h"
#include "../enclosure/enclosures.h"
#include "float32.h"
#define GV_ISA GV_TYPED
#include "float64.h"

#define GV_CR_ROW(name) {#name, GV_TYPED(gv_cr_##name##_f32), GV_TYPED(gv_cr_##name##_f64)},
const gv_cr_function GV_LEVEL_TABLE[] = {GV_CR_FUNCTIONS(GV_CR_ROW){0, 0, 0}};
