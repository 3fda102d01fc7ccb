/* Values of consecutive float32 inputs: on each block of 256 floats (the same but for their last 8 bits) a parabola
   through three of them, so that a value hangs on its input alone. Of a block of width w < 2^-15 |x| it is off by at
   most |f'''| w^3/96 <= |x^2 f'''| |x| 2^-51.5, and by 1.5 times what its three values are off. |x^2 f'''| < GV_THIRD for the
   eight functions on [GV_PARABOLA_FROM, GV_PARABOLA_TO]: tests/prove/test_parabola.py. */
#ifndef GV_REDUCE_PARABOLA_H
#define GV_REDUCE_PARABOLA_H
#include "known.h"

#define GV_STRIP 256 /* inputs judged at once: all arrays of a strip stay in the L1 cache */
#define GV_PARABOLA_FROM -2.0
#define GV_PARABOLA_TO 4.5
#define GV_THIRD 5.0
#define GV_PARABOLA_LEAST 16 /* inputs: fewer are evaluated */

GV_INLINE double gv_decode_32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* y + u (b + u c) within e, u counted from the middle of the block */
typedef struct { double y, b, c, e; } gv_parabola;

/* The block of an input: its first, middle and last. */
typedef struct { double at[3]; } gv_block_points;

GV_INLINE gv_block_points gv_points_of_block(uint32_t x_bits) {
    uint32_t block = x_bits & ~255u;
    gv_block_points p = {{gv_decode_32(block), gv_decode_32(block + 128), gv_decode_32(block + 255)}};
    return p;
}

/* whether n consecutive inputs from one to another are of one block, in the range, and not few */
GV_INLINE int gv_has_parabola(uint32_t first_bits, uint32_t last_bits, size_t n) {
    gv_block_points p = gv_points_of_block(first_bits);
    if (n < GV_PARABOLA_LEAST || ((first_bits ^ last_bits) & ~255u)) return 0;
    return fabs(p.at[0]) >= GV_TINY && fmin(p.at[0], p.at[2]) >= GV_PARABOLA_FROM && fmax(p.at[0], p.at[2]) <= GV_PARABOLA_TO;
}

/* through the values y, with what is left out (rest) and the bounds (off), at those points */
GV_INLINE gv_parabola gv_parabola_through(const gv_block_points *p, const double *y, const double *rest,
                                          const double *off) {
    double e = 0.0, largest = fabs(y[0]) + fabs(y[1]) + fabs(y[2]);
    for (int k = 0; k < 3; k++) e = fmax(e, off[k] + fabs(rest[k]));
    double before = (y[1] - y[0]) / 128.0, after = (y[2] - y[1]) / 127.0, c = (after - before) / 255.0;
    gv_parabola v = {y[1], before + c * 128.0, c, 1.5 * e + GV_THIRD * 0x1p-51 * fabs(p->at[2]) + 0x1p-48 * largest};
    return v;
}

GV_INLINE double gv_on_parabola(const gv_parabola *v, uint32_t x_bits) {
    double u = (double)((int32_t)(x_bits & 255u) - 128);
    return v->y + u * (v->b + u * v->c);
}

#endif
