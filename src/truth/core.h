/* The native core: values at an array of inputs, and outputs at them judged (judge.h has the definition). */
#ifndef GV_TRUTH_CORE_H
#define GV_TRUTH_CORE_H
#include "clones.h"
#include "find.h"
#include "judge.h"

GV_INLINE uint64_t gv_read(const void *p, size_t i, int width) {
    switch (width) {
        case 16: return ((const uint16_t *)p)[i];
        case 32: return ((const uint32_t *)p)[i];
        default: return ((const uint64_t *)p)[i];
    }
}

GV_INLINE void gv_write(void *p, size_t i, int width, uint64_t bits) {
    switch (width) {
        case 16: ((uint16_t *)p)[i] = (uint16_t)bits; break;
        case 32: ((uint32_t *)p)[i] = (uint32_t)bits; break;
        default: ((uint64_t *)p)[i] = bits;
    }
}

#define GV_BLOCK 128

/* Values at x, in double where that decides the rounding to fmt, else in double-double. */
GV_INLINE void gv_evaluate_block(gv_loop loop, gv_loop quick, const gv_format *fmt, const double *x, gv_value *y,
                                 size_t n) {
    if (fmt->width == 64) {
        loop(x, y, n);
        return;
    }
    quick(x, y, n);
    for (size_t i = 0; i < n; i++)
        if (!gv_is_decided(y[i], fmt)) loop(x + i, y + i, 1);
}

GV_INLINE void gv_evaluate_width(gv_loop loop, gv_loop quick, const gv_format *fmt, int width, const void *x_bits,
                                 gv_value *y, size_t n) {
    double x[GV_BLOCK];
    for (size_t start = 0; start < n; start += GV_BLOCK) {
        size_t block = n - start < GV_BLOCK ? n - start : GV_BLOCK;
        for (size_t i = 0; i < block; i++) x[i] = gv_decode(gv_read(x_bits, start + i, width), fmt);
        gv_evaluate_block(loop, quick, fmt, x, y + start, block);
    }
}

/* The values of a function at n inputs, given as 16, 32 or 64 bit patterns. */
GV_CLONES static void gv_evaluate(gv_loop loop, gv_loop quick, const gv_format *fmt, const void *x_bits, gv_value *y,
                                  size_t n) {
    if (fmt->width == 16) gv_evaluate_width(loop, quick, fmt, 16, x_bits, y, n);
    else if (fmt->width == 32) gv_evaluate_width(loop, quick, fmt, 32, x_bits, y, n);
    else gv_evaluate_width(loop, quick, fmt, 64, x_bits, y, n);
}

GV_INLINE void gv_judge_width(const gv_value *y, const gv_format *fmt, int width, const uint64_t *limits,
                              double at_zero, const void *x_bits, const void *got_bits, void *want, double *error,
                              unsigned char *flags, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t got = gv_read(got_bits, i, width), bits = 0;
        double x = gv_decode(gv_read(x_bits, i, width), fmt);
        flags[i] = gv_judge_one(y[i], x, got, gv_decode(got, fmt), fmt, limits, at_zero, &bits, &error[i]);
        gv_write(want, i, width, bits);
    }
}

/* want, error and flags (GV_DECIDED, GV_FAITHFUL) of n outputs, from the values at their inputs. */
GV_CLONES static void gv_judge(const gv_value *y, const gv_format *fmt, const uint64_t *limits, double at_zero,
                               const void *x_bits, const void *got_bits, void *want, double *error,
                               unsigned char *flags, size_t n) {
    if (fmt->width == 16) gv_judge_width(y, fmt, 16, limits, at_zero, x_bits, got_bits, want, error, flags, n);
    else if (fmt->width == 32) gv_judge_width(y, fmt, 32, limits, at_zero, x_bits, got_bits, want, error, flags, n);
    else gv_judge_width(y, fmt, 64, limits, at_zero, x_bits, got_bits, want, error, flags, n);
}

#endif
