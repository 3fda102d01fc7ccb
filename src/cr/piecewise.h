/* The functions that are tabulated by pieces, and where: of float64.h (fast path) and wide.h. */
#ifndef GV_CR_PIECEWISE_H
#define GV_CR_PIECEWISE_H
#include "../tables/gelu_f64.h"
#include "../tables/gelu_grad_f64.h"

typedef struct {
    const gv_piece *pieces;
    const gv_piece_rest *rest;
    int count, wide;         /* pieces; the first `wide` have a rest */
    double per_unit, q_loss; /* pieces a unit of |x|; what q = h^2 R(h) loses, relative */
    double whole;            /* from there on f(x) rounds to x, f'(x) to 1 */
    int derivative;
} gv_piecewise;

/* name, its name in the table's macros, whole, derivative */
#define GV_PIECEWISE_FUNCTIONS(F) \
    F(gelu, GELU, 9.0, 0) \
    F(gelu_grad, GELU_GRAD, 9.0, 1)

/* clang-format off */
#define GV_PIECEWISE_ROW(name, NAME, whole, derivative) \
    GV_TABLE gv_piecewise gv_##name##_piecewise = { \
        gv_##name##_pieces, gv_##name##_rest, GV_##NAME##_PIECES, GV_##NAME##_WIDE, \
        GV_##NAME##_PER_UNIT, GV_##NAME##_Q_LOSS, whole, derivative};
/* clang-format on */
GV_PIECEWISE_FUNCTIONS(GV_PIECEWISE_ROW)

#endif
