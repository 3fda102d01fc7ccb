/* Lists of lanes that an enclosure leaves undecided. */
#ifndef GV_CR_UNDECIDED_H
#define GV_CR_UNDECIDED_H
#include <stddef.h>
#include <stdint.h>
#include "../truth/dd.h"

#if defined(__GNUC__)
#define gv_count_bits(u) __builtin_popcountll(u)
#define gv_lowest_bit(u) __builtin_ctzll((u) | UINT64_C(1) << 63)
#else
GV_INLINE int gv_count_bits(uint64_t u) {
    int count = 0;
    for (; u; u &= u - 1) count++;
    return count;
}
GV_INLINE int gv_lowest_bit(uint64_t u) { return u ? gv_count_bits((u & (0 - u)) - 1) : 63; }
#endif

GV_INLINE size_t gv_least(size_t a, size_t b) { return a < b ? a : b; }

#define GV_PLACES 6 /* always written, so that there is seldom a branch to predict */

/* Appends first + k to `place` for every bit k of `lanes`: the new count. Writes up to GV_PLACES more than that. */
GV_INLINE size_t gv_append_places(unsigned short *place, size_t count, uint64_t lanes, size_t first) {
    int more = gv_count_bits(lanes);
    GV_ROLLED
    for (int k = 0; k < GV_PLACES; k++, lanes &= lanes - 1) /* unrolled, gcc makes vectors of it */
        place[count + (size_t)k] = (unsigned short)(first + (size_t)gv_lowest_bit(lanes));
    for (int k = GV_PLACES; k < more; k++, lanes &= lanes - 1)
        place[count + (size_t)k] = (unsigned short)(first + (size_t)gv_lowest_bit(lanes));
    return count + (size_t)more;
}

#endif
