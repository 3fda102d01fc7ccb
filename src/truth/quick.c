/* The functions in double: for formats of 32 bits and less, and only where the bound decides the rounding. */
#define GV_QUICK
#include "loops.h"

gv_loop gv_find_quick(const char *name);
gv_loop gv_find_quick(const char *name) { return gv_find(name); }
