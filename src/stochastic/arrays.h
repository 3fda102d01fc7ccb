/* Arrays of the sampler, and outputs of a map counted. Every clone gives the same bits: exact decisions (sampler.h). */
#ifndef GV_STOCHASTIC_ARRAYS_H
#define GV_STOCHASTIC_ARRAYS_H
#include <stddef.h>
#include "../truth/dd.h"
#define GV_CALLED GV_SELDOM /* truth/exp.h: exp and the thresholds once, for they seldom decide */
#include "sampler.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
#define GV_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define GV_CLONES __attribute__((target_clones("default", "avx2")))
#endif
#else
#define GV_CLONES
#endif

#define GV_STRIP 256 /* elements: their words and thresholds stay in the first cache */

/* for the few elements that the first bits do not decide: long code, once */
GV_SELDOM int gv_keeps_called(int law, double x, double rate, gv_philox_block u) { return gv_keeps(law, x, rate, u); }

GV_CLONES static void gv_first_words(uint64_t seed, uint64_t call, uint64_t start, uint32_t *first, size_t n) {
    for (size_t i = 0; i < n; i++) first[i] = gv_element_bits(start + i, call, seed).word[0];
}

GV_SELDOM void gv_keep_each(int law, const double *x, double rate, uint64_t seed, uint64_t call, uint64_t start,
                            unsigned char *keep, size_t n) {
    for (size_t i = 0; i < n; i++) keep[i] = gv_keeps_called(law, x[i], rate, gv_element_bits(start + i, call, seed));
}

/* one law, so that the compiler sees a loop without branches */
GV_INLINE void gv_keep_strip(int law, const double *x, double rate, uint64_t seed, uint64_t call, uint64_t start,
                             unsigned char *keep, size_t n) {
    uint32_t first[GV_STRIP];
    unsigned char open[GV_STRIP];
    unsigned any = 0;
    gv_first_words(seed, call, start, first, n);
    for (size_t i = 0; i < n; i++) {
        double err, t = gv_quick_threshold(law, x[i], rate, &err), u = (double)first[i];
        keep[i] = u + 1.0 <= t - err;
        open[i] = !keep[i] & !(u >= t + err);
    }
    for (size_t i = 0; i < n; i++) any |= open[i] | (x[i] != x[i]);
    if (any) gv_keep_each(law, x, rate, seed, call, start, keep, n);
}

/* keep[i] of element start + i */
GV_CLONES static void gv_keep(int law, const double *x, double rate, uint64_t seed, uint64_t call, uint64_t start,
                              unsigned char *keep, size_t n) {
    for (size_t at = 0; at < n; at += GV_STRIP) {
        size_t m = n - at < GV_STRIP ? n - at : GV_STRIP;
        if (law == GV_NORMAL) gv_keep_strip(GV_NORMAL, x + at, rate, seed, call, start + at, keep + at, m);
        else if (law == GV_LOGISTIC) gv_keep_strip(GV_LOGISTIC, x + at, rate, seed, call, start + at, keep + at, m);
        else gv_keep_strip(GV_CONSTANT, x + at, rate, seed, call, start + at, keep + at, m);
    }
}

/* Of n outputs at one input: how many are kept (within `slack` of the bits `kept`), `other`, `other` with the other
   sign; the rest are neither. */
#define GV_DEFINE_COUNT(width, sign) \
    GV_CLONES static void gv_count_##width(const uint##width##_t *y, uint##width##_t kept, uint##width##_t other, \
                                           uint##width##_t slack, size_t n, int64_t *counts) { \
        uint##width##_t low = (uint##width##_t)(kept - slack), range = (uint##width##_t)(2 * slack); \
        int64_t in = 0, out = 0, flipped = 0; \
        for (size_t i = 0; i < n; i++) { \
            in += (uint##width##_t)(y[i] - low) <= range; \
            out += y[i] == other; \
            flipped += y[i] == (uint##width##_t)(other ^ sign); \
        } \
        counts[0] += in; \
        counts[1] += out; \
        counts[2] += flipped; \
        counts[3] += (int64_t)n; \
    }
GV_DEFINE_COUNT(16, 0x8000)
GV_DEFINE_COUNT(32, UINT32_C(0x80000000))
GV_DEFINE_COUNT(64, UINT64_C(0x8000000000000000))

/* Of n outputs at `width` inputs that follow one another again and again: the same for each of these inputs. In a cell of
   `counts` are numbers of kept, other, and other with the other sign; fewer than 2^31 rows. */
#define GV_DEFINE_COUNT_ROWS(bits, sign) \
    GV_CLONES static void gv_count_rows_##bits( \
        const uint##bits##_t *y, const uint##bits##_t *kept, const uint##bits##_t *other, uint##bits##_t slack, \
        size_t n, size_t width, uint32_t *restrict in, uint32_t *restrict out, uint32_t *restrict flipped) { \
        uint##bits##_t range = (uint##bits##_t)(2 * slack); \
        for (size_t at = 0; at < n; at += width) { \
            size_t m = n - at < width ? n - at : width; \
            for (size_t i = 0; i < m; i++) { \
                uint##bits##_t got = y[at + i]; \
                in[i] += (uint##bits##_t)(got - (uint##bits##_t)(kept[i] - slack)) <= range; \
                out[i] += got == other[i]; \
                flipped[i] += got == (uint##bits##_t)(other[i] ^ sign); \
            } \
        } \
    }
GV_DEFINE_COUNT_ROWS(16, 0x8000)
GV_DEFINE_COUNT_ROWS(32, UINT32_C(0x80000000))
GV_DEFINE_COUNT_ROWS(64, UINT64_C(0x8000000000000000))

/* p of element x, in double: T/2^128 within 2^-52 of its size */
static void gv_probabilities(int law, const double *x, double rate, double *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (law == GV_CONSTANT || x[i] == 0.0) {
            p[i] = law == GV_CONSTANT ? 1.0 - rate : 0.5;
            continue;
        }
        gv_value v = law == GV_NORMAL ? gv_normcdf(x[i]) : gv_sigmoid(x[i]);
        p[i] = ldexp(v.hi + v.lo, v.k);
    }
}

/* Windows of GV_WINDOW bits of a sequence of n bits, those whose hash is 0 in the bits of `mask`: its value as two words,
   and where it ends. Which ones depends on their bits alone, so that two equal ones are both taken. Returns how many,
   of which at most `room` are written. */
#define GV_WINDOW 128
static size_t gv_windows(const unsigned char *bits, size_t n, uint64_t mask, uint64_t *high, uint64_t *low,
                         int64_t *end, size_t room) {
    uint64_t a = 0, b = 0;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        a = a << 1 | b >> 63;
        b = b << 1 | (bits[i] != 0);
        uint64_t h = (a ^ (b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
        if (((h >> 32) & mask) != 0 || i + 1 < GV_WINDOW) continue;
        if (found < room) {
            high[found] = a;
            low[found] = b;
            end[found] = (int64_t)(i + 1);
        }
        found++;
    }
    return found;
}

#endif
