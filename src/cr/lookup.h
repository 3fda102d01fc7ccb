/* 16-bit formats: every result is in a table of 65,536 (128 KiB, of which 2*randn inputs touch 4 to 30 KiB). */
#ifndef GV_CR_LOOKUP_H
#define GV_CR_LOOKUP_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>

/* The bits of two inputs, which one load brings: 1.3 times as fast as a load for each (docs/decisions.md) */
static inline uint32_t gv_look_up_two(const uint16_t *x) {
    uint32_t pair;
    memcpy(&pair, x, sizeof pair);
    return pair;
}

/* t[x[0]], ..., t[x[7]]: each load from the table goes straight to its lane, one store for all */
static inline __m128i gv_look_up_eight(const uint16_t *t, const uint16_t *x) {
    uint32_t a = gv_look_up_two(x), b = gv_look_up_two(x + 2), c = gv_look_up_two(x + 4), d = gv_look_up_two(x + 6);
    __m128i y = _mm_cvtsi32_si128(t[a & 0xffff]);
    y = _mm_insert_epi16(y, t[a >> 16], 1);
    y = _mm_insert_epi16(y, t[b & 0xffff], 2);
    y = _mm_insert_epi16(y, t[b >> 16], 3);
    y = _mm_insert_epi16(y, t[c & 0xffff], 4);
    y = _mm_insert_epi16(y, t[c >> 16], 5);
    y = _mm_insert_epi16(y, t[d & 0xffff], 6);
    return _mm_insert_epi16(y, t[d >> 16], 7);
}
#else

/* y[0], ..., y[3]: one load brings four inputs, one store takes the four results, in either byte order */
static inline void gv_look_up_four(const uint16_t *t, const uint16_t *x, uint16_t *y) {
    uint64_t a;
    memcpy(&a, x, sizeof a);
    a = t[a & 0xffff] | (uint64_t)t[a >> 16 & 0xffff] << 16 | (uint64_t)t[a >> 32 & 0xffff] << 32 |
        (uint64_t)t[a >> 48] << 48;
    memcpy(y, &a, sizeof a);
}
#endif

/* y[i] = t[x[i]]; x == y is allowed */
static inline void gv_look_up(const uint16_t *t, const uint16_t *x, uint16_t *y, size_t n) {
    size_t i = 0;
#ifdef __SSE2__
    for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(y + i), gv_look_up_eight(t, x + i));
#else
    for (; i + 4 <= n; i += 4) gv_look_up_four(t, x + i, y + i);
#endif
    for (; i < n; i++) y[i] = t[x[i]];
}

#endif
