/* What one judged output adds to a row, a region and the facts: on the CPU (sparse.h) and on the device (../cuda). Its
   witness is NumPy's, bit for bit: test_the_table_is_that_of_numpy in tests/buckets/test_reducer.py. */
#ifndef GV_BUCKETS_COUNT_H
#define GV_BUCKETS_COUNT_H
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

typedef struct {
    uint64_t x, got, want;
    double error;
    int faithful;
} gv_judged_output;

/* where the result moves against the function from the input before */
GV_INLINE void gv_count_rise(const gv_rules *rules, gv_row *row, gv_facts *facts, gv_point previous, gv_point p,
                             int width) {
    if (!gv_violates(rules, previous, p)) return;
    gv_note_flag(row, GV_RISES, (uint64_t)gv_size(p.x));
    gv_note_nearest(&facts->rises, p.x, gv_bits_at(p.got, width), previous.x, gv_bits_at(previous.got, width));
}

/* whether the bits of a magnitude are those of a NaN that does not signal */
GV_INLINE int gv_is_quiet(const gv_rules *rules, uint64_t magnitude) {
    uint64_t first_of_payload = UINT64_C(1) << (rules->fmt.precision - 2);
    return magnitude > (uint64_t)rules->infinity && (magnitude & first_of_payload);
}

/* the flags of buckets, and facts: signs, zeros, infinities, NaNs */
GV_INLINE void gv_count_flags(const gv_rules *rules, gv_row *row, gv_facts *facts, const gv_judged_output *o,
                              gv_point p, int width) {
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1, infinity = (uint64_t)rules->infinity;
    uint64_t x = o->x & mask, got = o->got & mask, want = o->want & mask;
    int opposite = (o->got ^ o->want) >> (width - 1) & 1, got_nan = got > infinity, want_nan = want > infinity;
    if (x < infinity && fabs(o->error) > DBL_MAX && (got >= infinity || want >= infinity)) {
        gv_note_flag(row, GV_NONFINITE, x);
        gv_note_nearest(&facts->nonfinite, p.x, o->got, 0, 0);
    }
    if (x > infinity && (!got_nan || (gv_is_quiet(rules, x) && !gv_is_quiet(rules, got))))
        gv_note_nearest(&facts->nan_wrong, p.x, o->got, 0, 0);
    if (opposite && got && !got_nan && !want_nan) {
        gv_note_flag(row, GV_WRONG_SIGN, x);
        gv_note_nearest(&facts->wrong_sign, p.x, o->got, 0, 0);
    }
    if (opposite && !got && !want && x < infinity && !rules->either_zero) {
        row->zero_sign++;
        if (x) gv_note_nearest(&facts->zero_sign, p.x, o->got, 0, 0);
    }
    if (!got && want && !want_nan) {
        gv_note_flag(row, GV_ZERO_LOST, x);
        if (p.x <= rules->tail_end) gv_note_nearest(&facts->zero_from, p.x, o->got, 0, 0);
    }
    if (got < infinity) {
        gv_note_extreme(&facts->lowest, p.got, p.x);
        gv_note_extreme(&facts->highest, -p.got, p.x);
    }
}

/* all that one output adds, but for its bin and what depends on the input before it; region: its own, or NULL */
GV_INLINE void gv_count_output(const gv_rules *rules, gv_row *row, gv_region *region, gv_facts *facts,
                               const gv_judged_output *o, gv_point p, int width) {
    uint64_t mask = (UINT64_C(1) << (width - 1)) - 1, infinity = (uint64_t)rules->infinity;
    int scored = fabs(o->error) <= DBL_MAX;
    double absolute = scored ? fabs(o->error) : -1.0;
    uint64_t got = o->got & mask, want = o->want & mask;
    gv_note_worst(&row->worst, !row->n, absolute, p.x, o->x, o->got, o->want);
    if (region) {
        gv_note_worst(&region->worst, !region->n, absolute, p.x, o->x, o->got, o->want);
        region->n++;
    }
    row->n++;
    row->correct += o->got == o->want || (got > infinity && want > infinity) || (rules->either_zero && !got && !want);
    row->faithful += o->faithful != 0;
    row->bits_hash += gv_hash_result(o->x, o->got, o->want, infinity, width);
    if (scored) {
        int64_t here = gv_rank(p.got), there = gv_rank(gv_ordinal(o->want, width));
        uint64_t distance = here > there ? (uint64_t)here - (uint64_t)there : (uint64_t)there - (uint64_t)here;
        row->error_sum += gv_sum_units(o->error);
        if (distance > facts->max_rank) facts->max_rank = distance;
        if (rules->stays_below_x && got > (o->x & mask)) gv_note_nearest(&facts->beyond_x, p.x, o->got, 0, 0);
    }
    gv_count_flags(rules, row, facts, o, p, width);
}

#endif
