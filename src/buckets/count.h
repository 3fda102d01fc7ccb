/* What one judged answer adds to a row, a region and the facts. */
#ifndef GV_REDUCE_COUNT_H
#define GV_REDUCE_COUNT_H
#include "hash.h"
#include "records.h"

GV_INLINE int gv_bin(const gv_rules *rules, double absolute) {
    return rules->bins[absolute == 0.0 ? 4096 : (gv_to_bits(absolute) - 1) >> 51];
}

/* the error in units of error_sum */
GV_INLINE int64_t gv_sum_units(double error) {
    double clipped = error < -GV_SUM_CLIP ? -GV_SUM_CLIP : error > GV_SUM_CLIP ? GV_SUM_CLIP : error;
    return (int64_t)(gv_to_bits(clipped * GV_SUM_SCALE + GV_SHIFTER) - gv_to_bits(GV_SHIFTER));
}

typedef struct { uint64_t x, got, want; double error; int faithful; } gv_answer;

/* where the result moves against the function from the input before */
GV_INLINE void gv_count_rise(const gv_rules *rules, gv_row *row, gv_facts *facts, gv_point previous, gv_point p, int width) {
    if (!gv_violates(rules, previous, p)) return;
    gv_note_flag(row, GV_RISES, (uint64_t)gv_size(p.x));
    gv_note_nearest(&facts->rises, p.x, gv_bits_at(p.got, width), previous.x, gv_bits_at(previous.got, width));
}

/* whether the bits of a magnitude are those of a NaN that does not signal */
GV_INLINE int gv_is_quiet(const gv_rules *rules, uint64_t magnitude) {
    uint64_t first_of_payload = UINT64_C(1) << (rules->fmt.precision - 2);
    return magnitude > (uint64_t)rules->last && (magnitude & first_of_payload);
}

/* what the flags of buckets and the facts ask: signs, zeros, infinities, NaNs */
GV_INLINE void gv_count_flags(const gv_rules *rules, gv_row *row, gv_facts *facts, const gv_answer *a, gv_point p,
                              int width) {
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1, infinity = (uint64_t)rules->last;
    uint64_t x = a->x & mask, got = a->got & mask, want = a->want & mask;
    int opposite = (a->got ^ a->want) >> (width - 1) & 1, got_nan = got > infinity, want_nan = want > infinity;
    if (x < infinity && got >= infinity && (want < infinity || got_nan)) {
        gv_note_flag(row, GV_NONFINITE, x);
        gv_note_nearest(&facts->nonfinite, p.x, a->got, 0, 0);
    }
    if (x > infinity && (!got_nan || (gv_is_quiet(rules, x) && !gv_is_quiet(rules, got))))
        gv_note_nearest(&facts->nan_wrong, p.x, a->got, 0, 0);
    if (opposite && got && !got_nan && !want_nan) {
        gv_note_flag(row, GV_WRONG_SIGN, x);
        gv_note_nearest(&facts->wrong_sign, p.x, a->got, 0, 0);
    }
    if (!got && want && !want_nan) {
        gv_note_flag(row, GV_ZERO_LOST, x);
        if (p.x <= rules->tail_end) gv_note_nearest(&facts->zero_from, p.x, a->got, 0, 0);
    }
    if (got < infinity) {
        gv_note_extreme(&facts->lowest, p.got, p.x);
        gv_note_extreme(&facts->highest, -p.got, p.x);
    }
}

/* all that one answer adds, but for its bin and what hangs on the input before it; seen: its region, or NULL */
GV_INLINE void gv_count_answer(const gv_rules *rules, gv_row *row, gv_region *seen, gv_facts *facts, const gv_answer *a,
                               gv_point p, int width) {
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1, infinity = (uint64_t)rules->last;
    int scored = fabs(a->error) <= DBL_MAX;
    double absolute = scored ? fabs(a->error) : -1.0;
    uint64_t got = a->got & mask, want = a->want & mask;
    gv_note_worst(&row->worst, !row->n, absolute, p.x, a->x, a->got, a->want);
    if (seen) {
        gv_note_worst(&seen->worst, !seen->n, absolute, p.x, a->x, a->got, a->want);
        seen->n++;
    }
    row->n++;
    row->correct += a->got == a->want || (got > infinity && want > infinity) || (rules->either_zero && !got && !want);
    row->faithful += a->faithful != 0;
    row->bits_hash += gv_hash_result(a->x, a->got, a->want, infinity, width);
    if (scored) {
        int64_t here = gv_rank(p.got), there = gv_rank(gv_ordinal(a->want, width));
        uint64_t distance = here > there ? (uint64_t)here - (uint64_t)there : (uint64_t)there - (uint64_t)here;
        row->error_sum += gv_sum_units(a->error);
        if (distance > facts->max_rank) facts->max_rank = distance;
        if (rules->stays_below_x && got > (a->x & mask)) gv_note_nearest(&facts->beyond_x, p.x, a->got, 0, 0);
    }
    gv_count_flags(rules, row, facts, a, p, width);
}

#endif
