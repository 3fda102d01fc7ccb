/* Where a polynomial comes close to integers, at 2^30 and more consecutive points, a linear piece at a time (Lefevre,
   "New results on the distance between a segment and Z^2", ARITH 2005): hardest-to-round float64 inputs.

   P(t) = f(x_0 + t ulp(x)) in half units in the last place of f(x), so that its integers are the numbers and the
   midpoints of the format. The points of a piece are t = 0 .. 2^n - 1, and with s = t/2^n,

     P = h0 + h1 s + h2 s^2 + h3 s^3 + h4 s^4

   s^2 is within 1/8 of s - 1/8 on [0, 1], so that P lies within |h2|/8 + |h3| + |h4| of the line with the slope
   (h1 + h2)/2^n a point from h0 - h2/8. Points at which that line is as close to an integer as this and the limit allow
   are found by the first solution of low <= b t mod 2^64 <= high, which is a Euclidean algorithm; at these P itself is
   computed. From piece to piece the h are shifted by one: sums.

   Fixed point: the h are 128-bit integers in units of 2^-104, modulo 2^24; a line in units of 2^-64, modulo 1. What that
   rounds off is below (2^n + 2) 2^-64 for a line and, as the caller's h are rounded, below i^4 2^-104 for P in piece i:
   the caller adds it to the limit (tools/linear_search.py, where the bounds are).

   Test      tests/facts/test_linear_search.py: against every point one by one */
#ifndef GV_TRUTH_LINEAR_H
#define GV_TRUTH_LINEAR_H
#include <stddef.h>
#include "dd.h"

#ifdef __SIZEOF_INT128__
#define GV_HAS_LINEAR 1
__extension__ typedef unsigned __int128 gv_wide_uint;
__extension__ typedef __int128 gv_wide_int;

#define GV_FRACTION 104
#define GV_MOST_LEVELS 64
#define GV_NONE UINT64_MAX

/* The smallest t >= 0 and below `count` with low <= b t mod 2^64 <= high, for 0 < low <= high; GV_NONE without one.
   A level asks for low <= a t mod m <= high. Where no multiple of a lies in [low, high] itself, t = ceil((low + m y)/a)
   for the smallest y with low mod a <= -m y mod a <= high mod a: the next level, which is at least halved, as a > m/2
   is reflected. Every y is at least 1, so t >= 2^64/a there. */
static uint64_t gv_first_between(uint64_t b, uint64_t low, uint64_t high, uint64_t count) {
    uint64_t a_of[GV_MOST_LEVELS], low_of[GV_MOST_LEVELS];
    gv_wide_uint m_of[GV_MOST_LEVELS];
    gv_wide_uint m = (gv_wide_uint)1 << 64;
    uint64_t a = b, t;
    for (int level = 0;; level++) {
        if (a > m - a) {
            uint64_t reflected = (uint64_t)(m - high);
            high = (uint64_t)(m - low);
            low = reflected;
            a = (uint64_t)(m - a);
        }
        if (a == 0) return GV_NONE;
        uint64_t quotient = low / a, rest = low - quotient * a; /* of the multiple below low */
        if (rest == 0 || a - rest <= high - low) {
            t = quotient + (rest != 0);
            while (level-- > 0 && t < count) { /* what is below a level's t is below t */
                gv_wide_uint sum = low_of[level] + m_of[level] * t;
                t = (uint64_t)((sum + (a_of[level] - 1)) / a_of[level]);
            }
            return t < count ? t : GV_NONE;
        }
        if ((gv_wide_uint)a * count < (gv_wide_uint)1 << 64 || level == GV_MOST_LEVELS - 1) return GV_NONE;
        a_of[level] = a;
        low_of[level] = low;
        m_of[level] = m;
        uint64_t below = m >> 64 ? (uint64_t)(-a) % a : (uint64_t)m % a; /* m mod a */
        high = rest + (high - low);
        low = rest;
        m = a;
        a = below ? a - below : 0;
    }
}

typedef struct {
    gv_wide_uint h[5];
    int n; /* log2 of the points of a piece, up to 24: h1 t is needed modulo 1 */
} gv_near_line;

GV_INLINE gv_wide_uint gv_magnitude(gv_wide_uint h) { return (gv_wide_int)h < 0 ? 0 - h : h; }

/* P at a point of a piece, modulo 1 and signed, in units of 2^-104. The products of h2, h3 and h4 fit in 127 bits. */
static gv_wide_int gv_near_integer(const gv_near_line *p, uint64_t t) {
    gv_wide_uint sum = p->h[0] + (p->h[1] * t >> p->n), power = t;
    for (int k = 2; k < 5; k++) {
        power *= t;
        sum += (gv_wide_uint)((gv_wide_int)(p->h[k] * power) >> k * p->n);
    }
    return (gv_wide_int)(sum << (128 - GV_FRACTION)) >> (128 - GV_FRACTION);
}

/* The points of a piece within `limit` of an integer, appended to `found` as `start` + t. */
static size_t gv_search_piece(const gv_near_line *p, gv_wide_uint limit, uint64_t start, uint64_t *found, size_t room) {
    const int shift = GV_FRACTION - 64;
    gv_wide_uint away = (gv_magnitude(p->h[2]) >> 3) + gv_magnitude(p->h[3]) + gv_magnitude(p->h[4]) + limit;
    uint64_t points = UINT64_C(1) << p->n, reach = (uint64_t)(away >> shift) + points + 3;
    uint64_t a = (uint64_t)((p->h[0] - (gv_wide_uint)((gv_wide_int)p->h[2] >> 3)) >> shift) + reach;
    uint64_t b = (uint64_t)((p->h[1] + p->h[2]) << (128 - GV_FRACTION - p->n) >> 64);
    size_t count = 0;
    for (uint64_t t = 0; t < points; t++) { /* a + b t mod 2^64 <= 2 reach */
        uint64_t place = a + b * t;
        if (place > 2 * reach) {
            uint64_t step = gv_first_between(b, 0 - place, 2 * reach - place, points - t);
            if (step == GV_NONE) break;
            t += step;
        }
        gv_wide_int distance = gv_near_integer(p, t);
        if ((distance < 0 ? -distance : distance) > (gv_wide_int)limit) continue;
        if (count < room) found[count] = start + t;
        count++;
    }
    return count;
}

/* The points t below pieces * 2^n at which P lies within `limit` (2^-64) of an integer; h: low and high halves of h0 ..
   h4. Returns their number, of which at most `room` are written. */
static size_t gv_search_linear(const uint64_t *h, int n, uint64_t pieces, uint64_t limit, uint64_t *found,
                               size_t room) {
    gv_near_line p = {{0}, n};
    size_t count = 0;
    for (int k = 0; k < 5; k++) p.h[k] = (gv_wide_uint)h[2 * k + 1] << 64 | h[2 * k];
    for (uint64_t i = 0; i < pieces; i++) {
        size_t full = count < room ? count : room;
        count += gv_search_piece(&p, (gv_wide_uint)limit << (GV_FRACTION - 64), i << n, found + full, room - full);
        p.h[0] += p.h[1] + p.h[2] + p.h[3] + p.h[4];
        p.h[1] += 2 * p.h[2] + 3 * p.h[3] + 4 * p.h[4];
        p.h[2] += 3 * p.h[3] + 6 * p.h[4];
        p.h[3] += 4 * p.h[4];
    }
    return count;
}

#else
#define GV_HAS_LINEAR 0
static size_t gv_search_linear(const uint64_t *h, int n, uint64_t pieces, uint64_t limit, uint64_t *found,
                               size_t room) {
    (void)h, (void)n, (void)pieces, (void)limit, (void)found, (void)room;
    return 0;
}
#endif

#endif
