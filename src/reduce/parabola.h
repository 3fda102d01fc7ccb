/* Values of consecutive float32 inputs: on each block of 256 floats (the same but for their last 8 bits) a parabola
   through three of them, so that a value hangs on its input alone. Of a block of width w < 2^-15 |x| it is off by at
   most |f'''| w^3/96 <= |x^2 f'''| |x| 2^-51.5, and by 1.5 times what its three values are off. |x^2 f'''| < GV_THIRD for the
   eight functions on [GV_PARABOLA_FROM, GV_PARABOLA_TO]: tests/prove/test_parabola.py. */
#ifndef GV_REDUCE_PARABOLA_H
#define GV_REDUCE_PARABOLA_H
#include "values.h"

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

/* hi[i] = y + u (b + u c), u counted from the middle of the block */
GV_CLONES static void gv_along_parabola(const uint32_t *x_bits, double *hi, double *lo, double *err, double y, double b,
                                        double c, double e, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double u = (double)((int32_t)(x_bits[i] & 255u) - 128);
        hi[i] = y + u * (b + u * c);
        lo[i] = 0.0;
        err[i] = e;
    }
}

/* 0, and nothing done, where these consecutive inputs are few, or not of one block in the range */
static int gv_by_parabola(gv_values values, const uint32_t *x_bits, double *hi, double *lo, double *err, size_t n) {
    uint32_t block = x_bits[0] & ~255u;
    double at[3] = {gv_decode_32(block), gv_decode_32(block + 128), gv_decode_32(block + 255)}, y[3], rest[3], off[3];
    if (n < GV_PARABOLA_LEAST || (x_bits[n - 1] & ~255u) != block) return 0;
    if (!(fabs(at[0]) >= GV_TINY && fmin(at[0], at[2]) >= GV_PARABOLA_FROM && fmax(at[0], at[2]) <= GV_PARABOLA_TO)) return 0;
    values(at, y, rest, off, 3);
    double e = 0.0, largest = fabs(y[0]) + fabs(y[1]) + fabs(y[2]);
    for (int k = 0; k < 3; k++) e = fmax(e, off[k] + fabs(rest[k]));
    double before = (y[1] - y[0]) / 128.0, after = (y[2] - y[1]) / 127.0, c = (after - before) / 255.0;
    e = 1.5 * e + GV_THIRD * 0x1p-51 * fabs(at[2]) + 0x1p-48 * largest;
    gv_along_parabola(x_bits, hi, lo, err, y[1], before + c * 128.0, c, e, n);
    return 1;
}

#endif
