/* The functions in double, bound 2^-40: for formats of 32 bits and less, and only where the bound decides. */
#define GV_QUICK
#include "loops.h"

gv_loop gv_find_quick(const char *name) { return gv_loop_named(gv_functions, name); }
