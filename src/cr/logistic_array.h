/* gelu_tanh, gelu_sigmoid, silu and their derivatives over arrays in float64: the formulas are in logistic.h, the
   stages in float64.h, which includes this. */
#ifndef GV_CR_LOGISTIC_ARRAY_H
#define GV_CR_LOGISTIC_ARRAY_H
#include "logistic.h"
#include "undecided.h"

/* Inputs that stage 1 leaves open, as gv_redo_open has them */
GV_INLINE size_t gv_logistic_redo(const gv_logistic_form *f, gv_evaluator evaluate, double *x, const size_t *place,
                                  size_t count, double *y, size_t offset, size_t *undecided) {
    double result[GV_F64_BLOCK + GV_F64_LANES];
    int mask[GV_F64_BLOCK / GV_F64_LANES];
    size_t open = 0;
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    for (size_t i = count; i < count + GV_F64_LANES; i++) x[i] = 0.0;
    for (size_t i = 0; i < count; i += GV_F64_LANES)
        mask[i / GV_F64_LANES] = gv_lanes_round(gv_logistic_wide(f, &powers, gv_lanes_load(x + i)), result + i);
    for (size_t i = 0; i < count; i++) {
        if (GV_LIKELY(!(mask[i / GV_F64_LANES] >> i % GV_F64_LANES & 1))) y[place[i]] = result[i];
        else if (x[i] <= f->zero) y[place[i]] = -0.0;
        else if (!gv_by_formula(f->highest, f->derivative, evaluate, x[i], y + place[i]))
            undecided[open++] = offset + place[i];
    }
    return open;
}

/* n inputs, a multiple of GV_F64_LANES and not 0; what is not decided goes to `redo` with its place from `offset` on.
   Four groups of lanes are in work at once, each at another step, so that few operations wait for one another. */
GV_INLINE size_t gv_logistic_block(const gv_logistic_form *f, gv_redo_open redo, const double *x, double *y, size_t n,
                                   size_t offset, size_t *undecided) {
    double open[GV_F64_BLOCK + GV_F64_LANES];
    size_t place[GV_F64_BLOCK + GV_F64_LANES], count = 0, left = 0, step = GV_F64_LANES, last = n - step;
    double steep[4][2 * GV_F64_LANES] GV_ROW_ALIGNED; /* of the groups in work */
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    gv_lanes_pair e = gv_logistic_exp(gv_logistic_reduce(f, &powers, gv_lanes_load(x), steep[0]));
    gv_lanes_divisor sum = gv_logistic_divisor(e);
    e = gv_logistic_exp(gv_logistic_reduce(f, &powers, gv_lanes_load(x + gv_least(step, last)), steep[1]));
    gv_lanes_reduced r = gv_logistic_reduce(f, &powers, gv_lanes_load(x + gv_least(2 * step, last)), steep[2]);
    for (size_t i = 0, group = 0; i < n; i += step, group++) {
        gv_lanes lanes = gv_lanes_load(x + i), ahead = gv_lanes_load(x + gv_least(i + 3 * step, last));
        gv_lanes_reduced next_r = gv_logistic_reduce(f, &powers, ahead, steep[(group + 3) % 4]);
        gv_lanes_pair next_e = gv_logistic_exp(r);
        gv_lanes_divisor next_sum = gv_logistic_divisor(e);
        int mask = gv_logistic_round(f, lanes, sum, steep[group % 4], y + i);
        r = next_r;
        e = next_e;
        sum = next_sum;
        if (GV_LIKELY(mask == 0)) continue;
        count += gv_lanes_pack(lanes, mask, i, open + count, place + count);
        if (count <= GV_F64_BLOCK - GV_F64_LANES) continue;
        left += redo(open, place, count, y, offset, undecided + left);
        count = 0;
    }
    return left + redo(open, place, count, y, offset, undecided + left);
}

GV_INLINE size_t gv_logistic_f64(const gv_logistic_form *f, gv_redo_open redo, const double *x, double *y, size_t n,
                                 size_t *undecided) {
    size_t whole = n - n % GV_F64_LANES, left = whole ? gv_logistic_block(f, redo, x, y, whole, 0, undecided) : 0;
    if (n > whole) {
        double end[GV_F64_LANES] = {0.0}; /* zeros are always decided */
        memcpy(end, x + whole, (n - whole) * sizeof *x);
        left += gv_logistic_block(f, redo, end, end, GV_F64_LANES, whole, undecided + left);
        memcpy(y + whole, end, (n - whole) * sizeof *y);
    }
    return left;
}

#endif
