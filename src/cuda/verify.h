/* The tiles of a kernel under test: inputs made, answers judged and counted, where they are.
   The includer defines GV_JUDGED, the function, and, where another one is approximated, GV_APPROXIMATED. */
#ifndef GELU_VERIFY_CUDA_VERIFY_H
#define GELU_VERIFY_CUDA_VERIFY_H
#include "truth.h"

#define GV_PASTE(a, b) a##b
#define GV_PASTED(a, b) GV_PASTE(a, b)
#define GV_KNOWN_JUDGED GV_PASTED(gv_known_, GV_JUDGED)
#define GV_ANSWER_JUDGED GV_PASTED(gv_answer_, GV_JUDGED)
#define GV_ANSWER_JUDGED_EXACTLY GV_PASTED(gv_answer_exactly_, GV_JUDGED)
#ifdef GV_APPROXIMATED
#define GV_KNOWN_APPROXIMATED GV_PASTED(gv_known_, GV_APPROXIMATED)
#define GV_ANSWER_APPROXIMATED GV_PASTED(gv_answer_, GV_APPROXIMATED)
#define GV_ANSWER_APPROXIMATED_EXACTLY GV_PASTED(gv_answer_exactly_, GV_APPROXIMATED)
#endif

#ifdef GV_APPROXIMATED
#define GV_TRUTHS 2 /* functions that an answer is held against */
#else
#define GV_TRUTHS 1
#endif

/* What the lanes of a block share: whether an answer or an input of the strip is odd, its parabolas and the values that
   they go through, the histogram. */
typedef struct {
    unsigned odd, hist[GV_BINS];
    double value[6], rest[6], off[6];
    gv_parabola parabola[GV_TRUTHS];
} gv_shared;

/* Answers that are left open: their number, which may exceed the room. */
typedef struct { gv_open *answers; unsigned *count, room; } gv_left_open;

GV_INLINE void gv_leave_open(gv_left_open left, uint64_t x, uint64_t got, int approximated) {
    unsigned place = GV_COUNT_UP(*left.count);
    if (place >= left.room) return;
    left.answers[place].x = x;
    left.answers[place].got = got;
    left.answers[place].approximated = approximated;
}

GV_INLINE void gv_tally_answer(const gv_rules *rules, gv_shared *shared, gv_tally *own, const gv_answered *y, uint64_t x,
                               uint64_t got, gv_point p, gv_left_open left) {
    const int width = rules->fmt.width;
    if (!y->decided) {
        gv_leave_open(left, x, got, 0);
        return;
    }
    uint64_t magnitude = got & ((UINT64_C(1) << (width - 1)) - 1);
    double error = y->error;
    if (fabs(error) > DBL_MAX && magnitude < (uint64_t)rules->last) error = error < 0.0 ? -DBL_MAX : DBL_MAX;
    gv_answer a = {x, got, y->want, error, y->faithful};
    gv_count_answer(rules, &own->row, NULL, &own->facts, &a, p, width);
    if (fabs(error) <= DBL_MAX) GV_COUNT_UP(shared->hist[gv_bin(rules, fabs(error))]);
}

/* the error against the function that is approximated */
GV_INLINE void gv_tally_approximation(const gv_answered *y, gv_tally *own, uint64_t x, uint64_t got, int64_t ordinal,
                                      gv_left_open left) {
    double absolute = fabs(y->error), off = absolute * y->unit;
    if (!y->decided) {
        gv_leave_open(left, x, got, 1);
    } else if (absolute <= DBL_MAX) {
        gv_note_farthest(&own->facts.approximation_ulp, absolute, ordinal);
        gv_note_farthest(&own->facts.approximation_abs, off > DBL_MAX ? DBL_MAX : off, ordinal);
    }
}

/* ---- float32: strips of whole blocks, as src/buckets/answers.h has them ---- */

/* whether the answer is the one that is settled beforehand (src/buckets/comb.h); y: what it is worth */
GV_INLINE int gv_is_settled(const gv_rules *rules, const gv_tile *tile, uint32_t x, uint32_t got, gv_answered *y) {
    if (tile->span < 0) return 0;
    const gv_span *span = &rules->spans[tile->span];
    uint32_t constant = (uint32_t)span->constant, required = (uint32_t)span->required;
    gv_answered settled = {0.0, 0.0, got, 1, 1};
    *y = settled;
    switch (span->kind) {
        case 0: return got == x;
        case 1: return got == x - 0x800000u;
        case 2: y->want = required; return got == constant;
        default: y->want = rules->truth.limits[0]; y->error = NAN; return (got & 0x7fffffffu) > 0x7f800000u;
    }
}

/* the three values of the parabola, of the function judged and of the one approximated, by a lane each */
GV_INLINE void gv_share_values(gv_shared *shared, unsigned lane, uint32_t x_bits) {
    gv_block_points points = gv_points_of_block(x_bits);
    gv_known v;
    if (lane < 3) v = GV_KNOWN_JUDGED(points.at[lane]);
#ifdef GV_APPROXIMATED
    else if (lane < 6) v = GV_KNOWN_APPROXIMATED(points.at[lane - 3]);
#endif
    else return;
    shared->value[lane] = v.hi;
    shared->rest[lane] = v.lo;
    shared->off[lane] = v.err;
}

/* the parabola of each function, by a lane each: the others only look at it */
GV_INLINE void gv_share_parabola(gv_shared *shared, unsigned lane, uint32_t x_bits) {
    if (lane >= GV_TRUTHS) return;
    gv_block_points points = gv_points_of_block(x_bits);
    unsigned from = 3 * lane;
    shared->parabola[lane] =
        gv_parabola_through(&points, shared->value + from, shared->rest + from, shared->off + from);
}

GV_INLINE gv_known gv_shared_value(const gv_shared *shared, unsigned which, uint32_t x_bits) {
    const gv_parabola *v = &shared->parabola[which];
    return gv_known_make(gv_on_parabola(v, x_bits), 0.0, v->e);
}

/* Whether the function falls in a tile, which lies between two turning points. */
GV_INLINE int gv_falls_in(const gv_rules *rules, const gv_tile *tile) {
    return (gv_monotone_piece(rules, tile->first) % 2 == 0) == (rules->falls_first != 0);
}

/* What one answer says with that of the input before it in its tile; few do, and only those are looked at closely. */
GV_INLINE void gv_tally_step(const gv_rules *rules, gv_tally *own, int falls, gv_point previous, gv_point p, int width) {
    int64_t step = gv_rank(p.got) - gv_rank(previous.got);
    if (falls ? step > 1 : step < -1) gv_count_rise(rules, &own->row, &own->facts, previous, p, width);
}

typedef struct { int parabola, plain, falls; } gv_strip_kind;

GV_INLINE void gv_judge_lane(const gv_rules *rules, const gv_tile *tile, gv_shared *shared, gv_tally *own,
                             const uint32_t *y, int64_t ordinal, gv_strip_kind kind, gv_left_open left) {
    const gv_format *fmt = &rules->fmt;
    int64_t at = tile->place + (ordinal - tile->first);
    uint32_t x_bits = (uint32_t)gv_bits_at(ordinal, 32), got_bits = y[at];
    double x = gv_decode_32(x_bits), got = gv_decode_32(got_bits);
    gv_point p = {ordinal, gv_ordinal(got_bits, 32)};
    gv_answered answered;
    int settled = gv_is_settled(rules, tile, x_bits, got_bits, &answered);
    if (!settled) {
        gv_known v = kind.parabola ? gv_shared_value(shared, 0, x_bits) : GV_KNOWN_JUDGED(x);
        answered = GV_ANSWER_JUDGED(v, x, got_bits, got, fmt, &rules->truth, kind.plain);
    }
    gv_tally_answer(rules, shared, own, &answered, x_bits, got_bits, p, left);
#ifdef GV_APPROXIMATED
    if (!settled) {
        gv_known v = kind.parabola ? gv_shared_value(shared, 1, x_bits) : GV_KNOWN_APPROXIMATED(x);
        answered = GV_ANSWER_APPROXIMATED(v, x, got_bits, got, fmt, &rules->approximated, kind.plain);
    }
    gv_tally_approximation(&answered, own, x_bits, got_bits, ordinal, left);
#endif
    if (ordinal == tile->first) return;
    gv_point previous = {ordinal - 1, gv_ordinal(y[at - 1], 32)};
    gv_tally_step(rules, own, kind.falls, previous, p, 32);
}

/* Inputs are consecutive, and so are their answers in y; blocks are whole in it. */
GV_INLINE void gv_judge_strips(const gv_rules *rules, const gv_tile *tile, gv_shared *shared, gv_tally *kept,
                               const uint32_t *y, gv_left_open left) {
    const int64_t last = tile->first + tile->count - 1, whole = ~(int64_t)(GV_STRIP - 1);
    const int falls = gv_falls_in(rules, tile);
    for (int64_t start = tile->first & whole; start <= last; start += GV_STRIP) {
        uint32_t first_bits = (uint32_t)gv_bits_at(start, 32), last_bits = (uint32_t)gv_bits_at(start + GV_STRIP - 1, 32);
        int dense = start >= tile->first && start + GV_STRIP - 1 <= last && tile->region >= 0;
        int smooth = dense && gv_has_parabola(first_bits, last_bits, GV_STRIP);
        GV_EACH_LANE(lane) {
            if (lane == 0) shared->odd = 0;
            if (smooth) gv_share_values(shared, lane, first_bits);
        }
        GV_EACH_LANE(lane) {
            int64_t ordinal = start + lane;
            if (ordinal >= tile->first && ordinal <= last) {
                uint32_t x = (uint32_t)gv_bits_at(ordinal, 32) & 0x7fffffffu;
                uint32_t got = y[tile->place + (ordinal - tile->first)] & 0x7fffffffu;
                if (got >= 0x7f800000u || x >= 0x7f800000u || x == 0) GV_SET_FLAG(shared->odd);
            }
            if (smooth) gv_share_parabola(shared, lane, first_bits);
        }
        gv_strip_kind kind = {smooth && !shared->odd, !shared->odd, falls};
        GV_EACH_LANE(lane) {
            int64_t ordinal = start + lane;
            if (ordinal >= tile->first && ordinal <= last)
                gv_judge_lane(rules, tile, shared, &kept[GV_OWN(lane)], y, ordinal, kind, left);
        }
    }
}

/* ---- float64: inputs drawn, in double-double ---- */

GV_INLINE void gv_judge_drawn(const gv_rules *rules, const gv_tile *tile, gv_shared *shared, gv_tally *own,
                              const uint64_t *x, const uint64_t *y, int64_t j, int falls, gv_left_open left) {
    const gv_format *fmt = &rules->fmt;
    uint64_t x_bits = x[tile->place + j], got_bits = y[tile->place + j];
    double input = gv_from_bits(x_bits), got = gv_from_bits(got_bits);
    gv_point p = {gv_ordinal(x_bits, 64), gv_ordinal(got_bits, 64)};
    gv_answered answered = GV_ANSWER_JUDGED_EXACTLY(input, got_bits, got, fmt, &rules->truth);
    gv_tally_answer(rules, shared, own, &answered, x_bits, got_bits, p, left);
#ifdef GV_APPROXIMATED
    answered = GV_ANSWER_APPROXIMATED_EXACTLY(input, got_bits, got, fmt, &rules->approximated);
    if (fabs(answered.error) > DBL_MAX && fabs(got) <= DBL_MAX) answered.error = DBL_MAX;
    gv_tally_approximation(&answered, own, x_bits, got_bits, p.x, left);
#endif
    if (j == 0) return;
    gv_point previous = {gv_ordinal(x[tile->place + j - 1], 64), gv_ordinal(y[tile->place + j - 1], 64)};
    gv_tally_step(rules, own, falls, previous, p, 64);
}

/* ---- a tile, by a block ---- */

/* Where lanes leave what they kept: one for each of a few groups of lanes. */
GV_INLINE void gv_begin_tile(gv_shared *shared, gv_tally *kept) {
    GV_EACH_LANE(lane) {
        if (lane < GV_BINS) shared->hist[lane] = 0;
        memset(&kept[GV_OWN(lane)], 0, sizeof *kept);
    }
}

GV_INLINE void gv_end_tile(const gv_tile *tile, const gv_shared *shared, gv_tally *sum, uint64_t x_first,
                           uint64_t x_last, uint64_t got_first, uint64_t got_last, int width) {
    for (int k = 0; k < GV_BINS; k++) sum->row.hist[k] = shared->hist[k];
    sum->ends.first.x = gv_ordinal(x_first, width);
    sum->ends.first.got = gv_ordinal(got_first, width);
    sum->ends.last.x = gv_ordinal(x_last, width);
    sum->ends.last.got = gv_ordinal(got_last, width);
    (void)tile;
}

#endif
