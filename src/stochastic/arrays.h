/* Arrays of the sampler, and outputs of a map counted. Every clone gives the same bits: exact decisions (sampler.h). */
#ifndef GV_STOCHASTIC_ARRAYS_H
#define GV_STOCHASTIC_ARRAYS_H
#include <stddef.h>
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

/* one law, so that the compiler sees a loop without branches */
GV_INLINE void gv_keep_strip(int law, const double *x, double rate, uint64_t seed, uint64_t call, uint64_t start,
                             unsigned char *keep, size_t n) {
    uint32_t first[GV_STRIP];
    unsigned char open[GV_STRIP];
    unsigned any = 0;
    for (size_t i = 0; i < n; i++) first[i] = gv_element_bits(start + i, call, seed).word[0];
    for (size_t i = 0; i < n; i++) {
        double err, t = gv_quick_threshold(law, x[i], rate, &err), u = (double)first[i];
        keep[i] = u + 1.0 <= t - err;
        open[i] = !keep[i] & !(u >= t + err);
    }
    for (size_t i = 0; i < n; i++) any |= open[i] | (x[i] != x[i]);
    if (any)
        for (size_t i = 0; i < n; i++) keep[i] = gv_keeps(law, x[i], rate, gv_element_bits(start + i, call, seed));
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

#endif
