/* Which inputs are hard to round: those whose exact value lies closer than `limit` units in the last place to what
   decides a rounding, a number of the format or the midpoint of two, without being one.

   A value is enclosed in double first (2^-40), and in double-double (2^-88) where that leaves open on which side of
   the limit the distance lies. What even that leaves open is marked: so no input is missed as long as the bounds of
   value.h hold, and the oracle says of each how far it is (gelu_verify/truth/hardest.py).

   For formats of up to 32 bits: there l is below 2^-28, and the distances are rounded by less than 2^-52.
   Test      tests/truth/test_hardest.py, against the oracle */
#ifndef GV_TRUTH_HARD_H
#define GV_TRUTH_HARD_H
#include "core.h"

#define GV_NEAR 1
#define GV_FAR (-1)
#define GV_OPEN 0

GV_INLINE int gv_nearness(gv_value v, const gv_format *fmt, double limit) {
    if (v.hi == 0.0 || v.hi != v.hi) return GV_FAR; /* exactly zero, or not defined */
    gv_units u = gv_in_units(v, fmt);
    if (u.n >> fmt->precision && u.f + u.l >= 0.0) return GV_FAR; /* an overflow */
    double to_number = fabs(u.f + u.l), to_midpoint = fabs((fabs(u.f) - 0.5) + (u.f < 0.0 ? -u.l : u.l));
    double distance = to_number < to_midpoint ? to_number : to_midpoint, unsure = u.er + 0x1p-52;
    if (v.err == 0.0 && distance == 0.0) return GV_FAR; /* exactly a number, or a midpoint */
    if (!u.binade_decided) return GV_OPEN;
    return distance + unsure < limit ? GV_NEAR : distance - unsure > limit ? GV_FAR : GV_OPEN;
}

GV_INLINE void gv_mark_near(const gv_value *y, const gv_format *fmt, double limit, unsigned char *marks, size_t n) {
    for (size_t i = 0; i < n; i++) marks[i] = gv_nearness(y[i], fmt, limit) != GV_FAR;
}

/* Appends the runs of consecutive hard inputs among n from ordinal `first` on to `runs`, as first and last ordinal;
   none of the inputs is a zero, an infinity or a NaN. Returns the number of runs: at most (n + 1)/2. */
GV_CLONES static size_t gv_hard_runs(gv_loop loop, gv_loop quick, const gv_format *fmt, int64_t first, size_t n,
                                     double limit, int64_t *runs) {
    double x[GV_BLOCK];
    gv_value y[GV_BLOCK];
    size_t count = 0;
    for (size_t start = 0; start < n; start += GV_BLOCK) {
        size_t block = n - start < GV_BLOCK ? n - start : GV_BLOCK;
        for (size_t i = 0; i < block; i++) {
            int64_t o = first + (int64_t)(start + i);
            uint64_t bits = o < 0 ? UINT64_C(1) << (fmt->width - 1) | (uint64_t)(-1 - o) : (uint64_t)o;
            x[i] = gv_decode(bits, fmt);
        }
        quick(x, y, block);
        for (size_t i = 0; i < block; i++) {
            int nearness = gv_nearness(y[i], fmt, limit);
            if (nearness == GV_OPEN) {
                loop(x + i, y + i, 1);
                nearness = gv_nearness(y[i], fmt, limit);
            }
            if (nearness == GV_FAR) continue;
            int64_t o = first + (int64_t)(start + i);
            if (count && runs[2 * count - 1] == o - 1) {
                runs[2 * count - 1] = o;
            } else {
                runs[2 * count] = runs[2 * count + 1] = o;
                count++;
            }
        }
    }
    return count;
}

#endif
