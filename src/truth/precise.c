/* The functions in double-double, bound 2^-88 */
#include "loops.h"

const char *gv_name(int index) { return gv_functions[index].name; }

gv_loop gv_find_formula(const char *name) { return gv_loop_named(gv_functions, name); }

gv_loop gv_find(const char *name) {
    gv_loop loop = gv_loop_named(gv_by_pieces, name);
    if (!loop) loop = gv_loop_named(gv_by_quotient, name);
    if (!loop) loop = gv_loop_named(gv_in_blocks, name);
    return loop ? loop : gv_find_formula(name);
}
