/* A batch of a search: the inputs of its pieces drawn, and of each piece the worst one and the mean error.

   error: as judge.h defines it, here without the decision how y rounds: within a few 2^-50 of itself and err/u(y). Who
   calls judges the worst inputs again, by truth/values.py. */
#ifndef GV_SEARCH_BATCH_H
#define GV_SEARCH_BATCH_H
#include "../truth/core.h"

/* Bits of a counter: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) */
GV_INLINE uint64_t gv_mixed(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* in [0, 1), number i of a key */
GV_INLINE double gv_drawn(uint64_t key, uint64_t i) {
    return (double)(gv_mixed(key + (i + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 11) * 0x1p-53;
}

/* From first to last, one of each of `count` equal parts, at `shift` of the part and at random up to `jitter` of it
   beyond; `number`: inputs drawn before, of this key */
GV_INLINE void gv_draw_within(uint64_t key, uint64_t number, int64_t first, int64_t last, int64_t count, double shift,
                              double jitter, int64_t *out) {
    int64_t width = last - first + 1, quotient = width / count, rest = width % count;
    for (int64_t i = 0; i < count; i++) {
        double at = shift + jitter * gv_drawn(key, number + (uint64_t)i);
        int64_t part = quotient + (i < rest), offset = (int64_t)((at - floor(at)) * (double)part);
        out[i] = first + i * quotient + (i < rest ? i : rest) + (offset < part ? offset : part - 1);
    }
}

/* Around a centre, half on each side: `near` of them consecutive, farther out with each visit; the rest at distances up
   to 2^scale, evenly by their logarithm */
GV_INLINE void gv_draw_around(uint64_t key, uint64_t number, int64_t centre, int64_t count, int64_t near,
                              int64_t visits, double scale, int64_t most, int64_t *out) {
    for (int64_t i = 0; i < count; i++) {
        int64_t distance = i / 2 + visits * (near / 2);
        if (i >= near) {
            double share = ((double)(i - near) + gv_drawn(key, number + (uint64_t)i)) / (double)(count - near);
            distance = (int64_t)exp2(share * scale);
        }
        int64_t at = i % 2 ? centre + distance : centre - distance;
        out[i] = at > most ? most : at < -1 - most ? -1 - most : at;
    }
}

/* y in units of its last place, i floats after a centre: t(i) = start + i slope + i^2 bend, 0 <= i <= span, but for an
   integer */
typedef struct { double start, slope, bend; } gv_course;

/* The course through the values at a centre and span/2 and span floats after it. Where these lie in different binades,
   or are subnormal, it is not that of y: the inputs are then as good as random ones. */
GV_INLINE gv_course gv_course_of(const gv_value *y, int64_t span) {
    double half = (double)span * 0.5;
    double unit = gv_power_of_two(gv_exponent(fabs(y[0].hi)) - 52);
    double d[3];
    for (int j = 0; j < 3; j++) {
        double scale = y[j].k == y[0].k ? 1.0 : gv_power_of_two(y[j].k - y[0].k);
        d[j] = ((y[j].hi * scale - y[0].hi) + (y[j].lo * scale - y[0].lo)) / unit;
    }
    gv_course c;
    c.bend = (d[2] - 2.0 * d[1]) / (2.0 * half * half);
    c.slope = (d[1] - c.bend * half * half) / half;
    c.start = y[0].lo / unit;
    return c;
}

#define GV_TIE_TRIES 128

/* Inputs whose values lie near midpoints between two doubles: each is the nearest of GV_TIE_TRIES, which are up to `span`
   floats after the centre, span a power of two. */
GV_CLONES static void gv_draw_ties(uint64_t key, uint64_t number, int64_t centre, int64_t count, int64_t span,
                                   int64_t most, const gv_course *c, int64_t *out) {
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = gv_mixed(key + (number + (uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15));
        uint32_t start = (uint32_t)bits, step = (uint32_t)(bits >> 32) | 1, mask = (uint32_t)span - 1;
        double away[GV_TIE_TRIES], nearest = 1.0;
        for (int j = 0; j < GV_TIE_TRIES; j++) {
            double at = (double)(int32_t)((start + (uint32_t)j * step) & mask);
            double t = c->start + at * (c->slope + at * c->bend);
            away[j] = fabs(t - floor(t) - 0.5);
        }
        uint32_t chosen = 0;
        for (int j = 0; j < GV_TIE_TRIES; j++)
            if (away[j] < nearest) nearest = away[j], chosen = (uint32_t)j;
        int64_t at = centre + (int64_t)((start + chosen * step) & mask);
        out[i] = at > most ? most : at;
    }
}

/* What a piece answered. `worst`: the place of its largest |error|, or -1; `mean`: of error/(1 + |error|), so that few
   large errors do not decide it */
typedef struct {
    int64_t worst;
    double largest, mean;
} gv_answer;

/* What is worse than any error: how many, and the place of the one nearest to zero, or -1 */
typedef struct {
    int64_t count, place;
    uint64_t magnitude;
} gv_outcome;

/* `unsure`: outputs that are not finite where the bound does not decide whether they should be */
typedef struct {
    gv_outcome nonfinite, wrong_sign;
    int64_t unsure;
} gv_outcomes;

GV_INLINE void gv_met(gv_outcome *o, uint64_t x_magnitude, int64_t place) {
    if (!o->count++ || x_magnitude < o->magnitude) o->magnitude = x_magnitude, o->place = place;
}

/* (got - y)/u(y); *plain: y is no power of two, which may hide its binade, and neither overflows */
GV_INLINE double gv_plain_error(gv_value v, double got, const gv_format *fmt, int *plain) {
    uint64_t bits = gv_to_bits(fabs(v.hi));
    int e = (int)(bits >> 52) - 1023 + v.k;
    int shift = v.k - ((e > fmt->emin ? e : fmt->emin) - fmt->precision + 1);
    *plain = (bits << 12) != 0 && e < fmt->emax && shift >= -1000 && shift <= 1000;
    if (!*plain) return 0.0;
    double scaled = v.k ? gv_scale_down(got, v.k) : got;
    return ((scaled - v.hi) - v.lo) * gv_power_of_two(shift);
}

GV_INLINE void gv_score_piece(const gv_value *y, const gv_format *fmt, int width, const uint64_t *limits,
                              double at_zero, int has_sign, const void *x_bits, const void *got_bits, int64_t start,
                              int64_t count, gv_answer *answer, gv_outcomes *outcomes) {
    uint64_t infinity = limits[5], sign = UINT64_C(1) << (fmt->width - 1);
    gv_answer a = {-1, -1.0, 0.0};
    for (int64_t i = start; i < start + count; i++) {
        uint64_t x = gv_read(x_bits, (size_t)i, width), got = gv_read(got_bits, (size_t)i, width);
        gv_value v = y[i];
        uint64_t magnitude = got & (sign - 1), x_magnitude = x & (sign - 1);
        double output = gv_decode(got, fmt), error = 0.0;
        int plain = magnitude < infinity && x_magnitude != 0 && x_magnitude < infinity && v.hi != 0.0;
        uint64_t want = v.hi < 0.0 ? sign : 0;
        if (plain) error = gv_plain_error(v, output, fmt, &plain);
        if (!plain) {
            unsigned char flags = gv_judge_one(v, gv_decode(x, fmt), got, output, fmt, limits, at_zero, &want, &error);
            if (magnitude >= infinity && !(flags & GV_DECIDED)) outcomes->unsure++;
        }
        double size = fabs(error);
        if (size != size) continue; /* NaN is due, and was returned */
        if (size > DBL_MAX) {
            gv_met(&outcomes->nonfinite, x_magnitude, i);
            continue;
        }
        if (has_sign && ((got ^ want) & sign) && magnitude) gv_met(&outcomes->wrong_sign, x_magnitude, i);
        if (size > a.largest) a.largest = size, a.worst = i;
        a.mean += error / (1.0 + size);
    }
    a.mean /= (double)count;
    *answer = a;
}

GV_CLONES static void gv_score(const gv_value *y, const gv_format *fmt, const uint64_t *limits, double at_zero,
                               int has_sign, const void *x_bits, const void *got_bits, const int64_t *count,
                               int64_t pieces, gv_answer *answers, gv_outcomes *outcomes) {
    int64_t start = 0;
    for (int64_t p = 0; p < pieces; start += count[p], p++) {
#define GV_SCORE(width) \
    gv_score_piece(y, fmt, width, limits, at_zero, has_sign, x_bits, got_bits, start, count[p], answers + p, outcomes)
        if (fmt->width == 16) GV_SCORE(16);
        else if (fmt->width == 32) GV_SCORE(32);
        else GV_SCORE(64);
#undef GV_SCORE
    }
}

#endif
