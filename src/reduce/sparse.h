/* One judged answer after the other: any inputs, in ascending order within a run. */
#ifndef GV_REDUCE_SPARSE_H
#define GV_REDUCE_SPARSE_H
#include "reducer.h"

GV_INLINE int gv_bin(const gv_rules *rules, double absolute) {
    return rules->bins[absolute == 0.0 ? 4096 : (gv_bits_of(absolute) - 1) >> 51];
}

/* the error in units of error_sum */
GV_INLINE int64_t gv_sum_units(double error) {
    double clipped = error < -GV_SUM_CLIP ? -GV_SUM_CLIP : error > GV_SUM_CLIP ? GV_SUM_CLIP : error;
    return (int64_t)(gv_bits_of(clipped * GV_SUM_SCALE + GV_SHIFTER) - gv_bits_of(GV_SHIFTER));
}

typedef struct { uint64_t x, got, want; double error; int faithful; } gv_answer;

/* what the flags of buckets and the facts ask: signs, zeros, infinities, NaNs */
GV_INLINE void gv_count_flags(gv_reducer *r, gv_row *row, const gv_answer *a, gv_point p, int width) {
    const gv_rules *rules = &r->rules;
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1, infinity = (uint64_t)rules->last;
    uint64_t x = a->x & mask, got = a->got & mask, want = a->want & mask;
    int opposite = (a->got ^ a->want) >> (width - 1) & 1, got_nan = got > infinity, want_nan = want > infinity;
    if (x < infinity && got >= infinity && (want < infinity || got_nan)) {
        gv_note_flag(row, GV_NONFINITE, x);
        gv_note_nearest(&r->facts.nonfinite, p.x, a->got, 0, 0);
    }
    if (opposite && got && !got_nan && !want_nan) {
        gv_note_flag(row, GV_WRONG_SIGN, x);
        gv_note_nearest(&r->facts.wrong_sign, p.x, a->got, 0, 0);
    }
    if (!got && want && !want_nan) {
        gv_note_flag(row, GV_ZERO_LOST, x);
        if (p.x <= rules->tail_end) gv_note_nearest(&r->facts.zero_from, p.x, a->got, 0, 0);
    }
    if (r->has_previous && gv_violates(rules, r->previous, p)) {
        uint64_t sign = UINT64_C(1) << (width - 1);
        int64_t o = r->previous.got;
        gv_note_flag(row, GV_RISES, x);
        gv_note_nearest(&r->facts.rises, p.x, a->got, r->previous.x, o < 0 ? sign | (uint64_t)(-1 - o) : (uint64_t)o);
    }
    if (got < infinity) {
        gv_note_extreme(&r->facts.lowest, p.got, p.x);
        gv_note_extreme(&r->facts.highest, -p.got, p.x);
    }
}

GV_INLINE void gv_count_one(gv_reducer *r, const gv_answer *a, int width) {
    const gv_rules *rules = &r->rules;
    gv_point p = {gv_ordinal(a->x, width), gv_ordinal(a->got, width)};
    gv_row *row = &r->rows[gv_bucket(p.x, width)];
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1, infinity = (uint64_t)rules->last;
    int scored = fabs(a->error) <= DBL_MAX;
    double absolute = scored ? fabs(a->error) : -1.0;
    uint64_t got = a->got & mask, want = a->want & mask;
    int64_t region = gv_region_of(r, p.x);
    gv_note_worst(&row->worst, !row->n, absolute, p.x, a->x, a->got, a->want);
    if (region >= 0) {
        gv_region *seen = &r->regions[region];
        gv_note_worst(&seen->worst, !seen->n, absolute, p.x, a->x, a->got, a->want);
        seen->n++;
    }
    row->n++;
    row->correct += a->got == a->want || (got > infinity && want > infinity) || (rules->either_zero && !got && !want);
    row->faithful += a->faithful != 0;
    if (scored) {
        int64_t here = gv_rank(p.got), there = gv_rank(gv_ordinal(a->want, width));
        uint64_t distance = here > there ? (uint64_t)here - (uint64_t)there : (uint64_t)there - (uint64_t)here;
        row->error_sum += gv_sum_units(a->error);
        row->hist[gv_bin(rules, absolute)]++;
        if (distance > r->facts.max_rank) r->facts.max_rank = distance;
        if (rules->stays_below_x && got > (a->x & mask)) gv_note_nearest(&r->facts.beyond_x, p.x, a->got, 0, 0);
    }
    gv_count_flags(r, row, a, p, width);
    r->previous = p;
    r->has_previous = 1;
}

/* A run that the caller has judged. */
GV_INLINE int gv_add_judged_width(gv_reducer *r, int width, const void *x, const void *got, const void *want,
                                  const double *error, const unsigned char *faithful, size_t n) {
    if (!gv_begin_run(r)) return 0;
    for (size_t i = 0; i < n; i++) {
        gv_answer a = {gv_read(x, i, width), gv_read(got, i, width), gv_read(want, i, width), gv_less_noise(error[i]),
                       faithful[i]};
        gv_count_one(r, &a, width);
    }
    gv_end_run(r, (gv_point){gv_ordinal(gv_read(x, 0, width), width), gv_ordinal(gv_read(got, 0, width), width)});
    return 1;
}

/* 0 when there is no memory; n > 0, x ascends */
static int gv_add_judged(gv_reducer *r, const void *x, const void *got, const void *want, const double *error,
                         const unsigned char *faithful, size_t n) {
    switch (r->rules.fmt.width) {
        case 16: return gv_add_judged_width(r, 16, x, got, want, error, faithful, n);
        case 32: return gv_add_judged_width(r, 32, x, got, want, error, faithful, n);
        default: return gv_add_judged_width(r, 64, x, got, want, error, faithful, n);
    }
}

#endif
