/* Strips of values: those of a block along its parabola. */
#ifndef GV_REDUCE_ALONG_H
#define GV_REDUCE_ALONG_H
#include "parabola.h"
#include "values.h"

GV_CLONES static void gv_along_parabola(const uint32_t *x_bits, double *hi, double *lo, double *err, gv_parabola v,
                                        size_t n) {
    for (size_t i = 0; i < n; i++) {
        hi[i] = gv_on_parabola(&v, x_bits[i]);
        lo[i] = 0.0;
        err[i] = v.e;
    }
}

/* 0, and nothing done, where these consecutive inputs are few, or not of one block in the range */
static int gv_by_parabola(gv_values values, const uint32_t *x_bits, double *hi, double *lo, double *err, size_t n) {
    if (!gv_has_parabola(x_bits[0], x_bits[n - 1], n)) return 0;
    gv_block_points p = gv_points_of_block(x_bits[0]);
    double y[3], rest[3], off[3];
    values(p.at, y, rest, off, 3);
    gv_along_parabola(x_bits, hi, lo, err, gv_parabola_through(&p, y, rest, off), n);
    return 1;
}

#endif
