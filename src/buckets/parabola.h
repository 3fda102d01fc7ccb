/* Enclosures of consecutive float32 inputs by interpolation: on each block of 256 floats (the same but for their last 8
   bits) a parabola through the values at its first, middle and last input. So that E depends on the input alone, a
   strip takes the parabola of its block whichever inputs it has.

   Domain   -2 <= x <= 4.5, |x| >= 2^-12, at least 16 inputs of one block, for the four GELUs and their derivatives
   Bound    of a block of width w < 2^-15 |x|, for y0, y1, y2 within e:
              interpolation   |f'''| w^3/96 <= |x^2 f'''| |x| 2^-51.5, |x^2 f'''| < GV_THIRD = 5
              of the values   1.5 e, as Lagrange's basis is below 1.5 in sum
              roundings       2^-48 (|y0| + |y1| + |y2|)
   Kind     proved: tests/prove/test_parabola.py, which also measures how much of it is used */
#ifndef GV_BUCKETS_PARABOLA_H
#define GV_BUCKETS_PARABOLA_H
#include "enclosure.h"

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
    return fabs(p.at[0]) >= GV_TINY && fmin(p.at[0], p.at[2]) >= GV_PARABOLA_FROM &&
           fmax(p.at[0], p.at[2]) <= GV_PARABOLA_TO;
}

/* through the enclosures of those points */
GV_INLINE gv_parabola gv_parabola_through(const gv_block_points *p, const double *hi, const double *lo,
                                          const double *err) {
    double e = 0.0, largest = fabs(hi[0]) + fabs(hi[1]) + fabs(hi[2]);
    for (int k = 0; k < 3; k++) e = fmax(e, err[k] + fabs(lo[k]));
    double before = (hi[1] - hi[0]) / 128.0, after = (hi[2] - hi[1]) / 127.0, c = (after - before) / 255.0;
    gv_parabola v = {hi[1], before + c * 128.0, c, 1.5 * e + GV_THIRD * 0x1p-51 * fabs(p->at[2]) + 0x1p-48 * largest};
    return v;
}

GV_INLINE double gv_on_parabola(const gv_parabola *v, uint32_t x_bits) {
    double u = (double)((int32_t)(x_bits & 255u) - 128);
    return v->y + u * (v->b + u * v->c);
}

#endif
