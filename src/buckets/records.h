/* What is kept of all inputs of a sweep: a row for each bucket (top 16 bits of the ordinal of x) and each region, and
   facts about all of them. Everything is a sum of integers, or an extreme with the lowest ordinal of x as a tie-break:
   the records do not depend on the order of the inputs or on how they are split (tests/measure/test_sweep.py).

   error_sum adds E as a whole number of 2^-16 ulp, |E| clipped at 2^24 so that one lost result does not drown the bias
   of all others. The Python records are those of gelu_verify/buckets/reducer.py, field by field. */
#ifndef GV_BUCKETS_RECORDS_H
#define GV_BUCKETS_RECORDS_H
#include "enclosure.h"
#include "ulp_error.h"

typedef struct gv_enclosed_function gv_enclosed_function; /* strip_enclosure.h */

/* What decides where even double-double does not: fills want, error, faithful. */
typedef void (*gv_oracle)(void *owner, int approximated, uint64_t x_bits, uint64_t got_bits, uint64_t *want,
                          double *error, int *faithful);

/* One function to judge against. */
typedef struct {
    const gv_enclosed_function *function; /* NULL where there is none: then nothing is judged here */
    gv_loop exact; /* in double-double */
    uint64_t limits[6]; /* bits required at NaN, -inf, inf, -0, 0; those of infinity */
    double at_zero;
} gv_truth;

#define GV_BUCKETS 65536
#define GV_BINS 24
#define GV_SUM_SCALE 65536.0
#define GV_SUM_CLIP 0x1p24
#define GV_MOST_TURNS 8
#define GV_MOST_REGIONS 16
#define GV_MOST_SPANS 16

enum { GV_NONFINITE, GV_WRONG_SIGN, GV_ZERO_LOST, GV_RISES, GV_NEAREST_FLAGS };

/* The largest |E| (-1: nothing scored, while n > 0) and the first input that has it. */
typedef struct {
    double error;
    int64_t ordinal;
    uint64_t x, got, want;
} gv_worst;

typedef struct {
    gv_worst worst;
    int64_t error_sum; /* 2^-16 ulp */
    uint64_t bits_hash; /* hash.h */
    uint64_t nearest[GV_NEAREST_FLAGS]; /* |x| bits */
    uint32_t n, correct, faithful, count[GV_NEAREST_FLAGS], hist[GV_BINS];
    uint32_t zero_sign; /* zeros of the wrong sign; the fact has none at x = 0 */
} gv_row;

typedef struct {
    gv_worst worst;
    int64_t n;
} gv_region;

/* The input nearest to zero that has a property; `below` is its left neighbour, where that matters. */
typedef struct {
    int64_t present, ordinal, below;
    uint64_t got, got_below;
} gv_nearest;

/* An extreme with the first input that has it. */
typedef struct { int64_t present, value, ordinal; } gv_extreme;
typedef struct {
    int64_t present, ordinal;
    double value;
} gv_farthest;

typedef struct {
    uint64_t max_rank;
    gv_extreme lowest, highest;
    gv_nearest nonfinite, wrong_sign, zero_from, rises, beyond_x, nan_wrong, zero_sign;
    gv_farthest approximation_ulp, approximation_abs;
} gv_facts;

/* kinds of analytic spans: x, x/2 (exact), a constant, any NaN that is quiet where x is */
enum { GV_SAME, GV_HALF, GV_CONSTANT, GV_NAN };

/* Inputs whose correctly rounded results a formula gives (analytic_spans.h), with errors below the noise, or, where it
   `is_first_order`, those of leaving out the term after x/2 or 1/2. A constant that is not the one required (0 for -0)
   counts as correct where it is `accepted`. */
typedef struct {
    int64_t first, last, kind, is_first_order, accepted;
    uint64_t constant, required;
} gv_span;

typedef struct { int64_t x, got; } gv_point; /* ordinals */
typedef struct { gv_point first, last; } gv_segment;

typedef struct {
    gv_format fmt;
    gv_truth truth, approximated; /* function NULL: judged by the caller; nothing is approximated */
    /* as in buckets/table.py, MonotonePieces; a negative count: not known to be monotone anywhere */
    int64_t turns[GV_MOST_TURNS], turn_count, falls_first, infinity;
    int64_t edges[GV_MOST_REGIONS + 1], region_count;
    int64_t tail_end, stays_below_x, either_zero;
    int64_t span_count;
    gv_span spans[GV_MOST_SPANS];
    unsigned char bins[4097];
} gv_rules;

GV_INLINE int64_t gv_ordinal(uint64_t bits, int width) {
    uint64_t sign = UINT64_C(1) << (width - 1);
    return bits & sign ? -1 - (int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

GV_INLINE uint64_t gv_bits_at(int64_t ordinal, int width) {
    return ordinal < 0 ? UINT64_C(1) << (width - 1) | (uint64_t)(-1 - ordinal) : (uint64_t)ordinal;
}

GV_INLINE int64_t gv_rank(int64_t ordinal) { return ordinal + (ordinal < 0); }

GV_INLINE int64_t gv_size(int64_t ordinal) { return ordinal < 0 ? -1 - ordinal : ordinal; }

GV_INLINE unsigned gv_bucket(int64_t ordinal, int width) {
    return (unsigned)((width >= 16 ? ordinal >> (width - 16) : ordinal) + 0x8000);
}

/* whether one output comes before another with the same error: by x, and of pairs at one x by their bits */
GV_INLINE int gv_comes_before(const gv_worst *worst, int64_t ordinal, uint64_t got, uint64_t want) {
    if (ordinal != worst->ordinal) return ordinal < worst->ordinal;
    return got < worst->got || (got == worst->got && want < worst->want);
}

GV_INLINE void gv_note_worst(gv_worst *worst, int fresh, double error, int64_t ordinal, uint64_t x, uint64_t got,
                             uint64_t want) {
    if (fresh || error > worst->error || (error == worst->error && gv_comes_before(worst, ordinal, got, want)))
        worst->error = error, worst->ordinal = ordinal, worst->x = x, worst->got = got, worst->want = want;
}

GV_INLINE void gv_note_nearest(gv_nearest *nearest, int64_t ordinal, uint64_t got, int64_t below, uint64_t got_below) {
    int64_t size = gv_size(ordinal), least = gv_size(nearest->ordinal);
    int before = ordinal < nearest->ordinal ||
                 (ordinal == nearest->ordinal && (got < nearest->got || (got == nearest->got && /* of pairs */
                                                                         got_below < nearest->got_below)));
    if (!nearest->present || size < least || (size == least && before))
        nearest->present = 1, nearest->ordinal = ordinal, nearest->below = below, nearest->got = got,
        nearest->got_below = got_below;
}

/* the smaller value, then the lower ordinal */
GV_INLINE void gv_note_extreme(gv_extreme *extreme, int64_t value, int64_t ordinal) {
    if (!extreme->present || value < extreme->value || (value == extreme->value && ordinal < extreme->ordinal))
        extreme->present = 1, extreme->value = value, extreme->ordinal = ordinal;
}

GV_INLINE void gv_note_farthest(gv_farthest *farthest, double value, int64_t ordinal) {
    if (!farthest->present || value > farthest->value || (value == farthest->value && ordinal < farthest->ordinal))
        farthest->present = 1, farthest->ordinal = ordinal, farthest->value = value;
}

GV_INLINE void gv_note_flag(gv_row *row, int flag, uint64_t magnitude) {
    if (!row->count[flag] || magnitude < row->nearest[flag]) row->nearest[flag] = magnitude;
    row->count[flag]++;
}

/* the number of turning points left of an ordinal */
GV_INLINE int64_t gv_monotone_piece(const gv_rules *rules, int64_t ordinal) {
    int64_t piece = 0;
    for (int64_t k = 0; k < rules->turn_count; k++) piece += rules->turns[k] < ordinal;
    return piece;
}

GV_INLINE int gv_is_number(const gv_rules *rules, int64_t ordinal) {
    return ordinal <= rules->infinity && ordinal >= -1 - rules->infinity;
}

/* whether the result moves against the function from one input to the next, by more than one float */
GV_INLINE int gv_violates(const gv_rules *rules, gv_point a, gv_point b) {
    int64_t piece = gv_monotone_piece(rules, a.x);
    if (rules->turn_count < 0 || !gv_is_number(rules, a.x) || !gv_is_number(rules, b.x) ||
        !gv_is_number(rules, a.got) || !gv_is_number(rules, b.got) || piece != gv_monotone_piece(rules, b.x))
        return 0;
    int falls = (piece % 2 == 0) == (rules->falls_first != 0);
    return falls ? gv_rank(b.got) > gv_rank(a.got) + 1 : gv_rank(b.got) < gv_rank(a.got) - 1;
}

#endif
