/* Values over arrays, by the name of the function: compiled once, and linked into every extension that asks for them. */
#ifndef GV_TRUTH_FIND_H
#define GV_TRUTH_FIND_H
#include "value.h"

const char *gv_name(int index); /* of the functions there are, 0 after the last */
gv_loop gv_find(const char *name); /* in double-double, and by pieces or one quotient where these decide: precise.c */
gv_loop gv_find_formula(const char *name); /* in double-double, by the formulas of src/math alone: precise.c */
gv_loop gv_find_quick(const char *name); /* in double: quick.c */

#endif
