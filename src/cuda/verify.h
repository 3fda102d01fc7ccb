/* The tiles of a kernel under test: inputs made, outputs judged and counted, on the device that has them.
   The includer defines GV_JUDGED, the function, and, where another one is approximated, GV_APPROXIMATED.
   Test: tests/measure/test_gpu_judge.py runs it on the CPU, whose reducer must have the same records, bit for bit. */
#ifndef GELU_VERIFY_CUDA_VERIFY_H
#define GELU_VERIFY_CUDA_VERIFY_H
#include "truth.h"

#define GV_PASTE(a, b) a##b
#define GV_PASTED(a, b) GV_PASTE(a, b)
typedef GV_PASTED(gv_function_, GV_JUDGED) gv_judged;
#ifdef GV_APPROXIMATED
typedef GV_PASTED(gv_function_, GV_APPROXIMATED) gv_approximated;
#define GV_FUNCTIONS_JUDGED 2 /* functions that an output is compared with */
#else
#define GV_FUNCTIONS_JUDGED 1
#endif

/* What the lanes of a block share: whether an output or an input of the strip is not plain (NaN, infinite, an x of 0),
   its parabolas with the enclosures that they go through, the histogram. */
typedef struct {
    unsigned special, hist[GV_BINS];
    double hi[6], lo[6], err[6];
    gv_parabola parabola[GV_FUNCTIONS_JUDGED];
} gv_shared;

/* Outputs for the oracle: their number may exceed the capacity. */
typedef struct {
    gv_undecided_output *outputs;
    unsigned *count, capacity;
} gv_undecided_list;

GV_INLINE void gv_add_undecided(gv_undecided_list undecided, uint64_t x, uint64_t got, int approximated) {
    unsigned place = GV_COUNT_UP(*undecided.count);
    if (place >= undecided.capacity) return;
    undecided.outputs[place].x = x;
    undecided.outputs[place].got = got;
    undecided.outputs[place].approximated = approximated;
}

GV_INLINE void gv_tally_output(const gv_rules *rules, gv_shared *shared, gv_tally *own, const gv_judgement *y,
                               uint64_t x, uint64_t got, gv_point p, gv_undecided_list undecided) {
    const int width = rules->fmt.width;
    if (!y->decided) {
        gv_add_undecided(undecided, x, got, 0);
        return;
    }
    uint64_t magnitude = got & ((UINT64_C(1) << (width - 1)) - 1);
    double error = y->error;
    if (fabs(error) > DBL_MAX && magnitude < (uint64_t)rules->infinity) error = error < 0.0 ? -DBL_MAX : DBL_MAX;
    gv_judged_output o = {x, got, y->want, error, y->faithful};
    gv_count_output(rules, &own->row, NULL, &own->facts, &o, p, width);
    if (fabs(error) <= DBL_MAX) GV_COUNT_UP(shared->hist[gv_bin(rules, fabs(error))]);
}

/* the error against the function that is approximated */
GV_INLINE void gv_tally_approximation(const gv_judgement *y, gv_tally *own, uint64_t x, uint64_t got, int64_t ordinal,
                                      gv_undecided_list undecided) {
    double absolute = fabs(y->error), off = absolute * y->unit;
    if (!y->decided) {
        gv_add_undecided(undecided, x, got, 1);
    } else if (absolute <= DBL_MAX) {
        gv_note_farthest(&own->facts.approximation_ulp, absolute, ordinal);
        gv_note_farthest(&own->facts.approximation_abs, off > DBL_MAX ? DBL_MAX : off, ordinal);
    }
}

/* ---- float32: strips of whole blocks, as in ../buckets/outputs.h ---- */

/* whether the output is the analytic result (../buckets/analytic_spans.h); y: its judgement then */
GV_INLINE int gv_is_analytic(const gv_rules *rules, const gv_tile *tile, uint32_t x, uint32_t got, gv_judgement *y) {
    if (tile->span < 0) return 0;
    const gv_span *span = &rules->spans[tile->span];
    uint32_t constant = (uint32_t)span->constant, required = (uint32_t)span->required;
    gv_judgement correct = {0.0, 0.0, got, 1, 1};
    *y = correct;
    switch (span->kind) {
        case GV_SAME: return got == x;
        case GV_HALF: return got == x - 0x800000u;
        case GV_CONSTANT: y->want = required; return got == constant;
        default:
            y->want = rules->truth.limits[0];
            y->error = NAN;
            return (got & 0x7fffffffu) > 0x7f800000u;
    }
}

/* the three enclosures that a parabola goes through, of the function judged and of the one approximated, a lane each */
GV_INLINE void gv_share_enclosures(gv_shared *shared, unsigned lane, uint32_t x_bits) {
    gv_block_points points = gv_points_of_block(x_bits);
    gv_enclosure v;
    if (lane < 3) v = gv_judged::enclosure(points.at[lane]);
#ifdef GV_APPROXIMATED
    else if (lane < 6) v = gv_approximated::enclosure(points.at[lane - 3]);
#endif
    else return;
    shared->hi[lane] = v.hi;
    shared->lo[lane] = v.lo;
    shared->err[lane] = v.err;
}

/* the parabola of each function, a lane each: all lanes read it */
GV_INLINE void gv_share_parabola(gv_shared *shared, unsigned lane, uint32_t x_bits) {
    if (lane >= GV_FUNCTIONS_JUDGED) return;
    gv_block_points points = gv_points_of_block(x_bits);
    unsigned from = 3 * lane;
    shared->parabola[lane] = gv_parabola_through(&points, shared->hi + from, shared->lo + from, shared->err + from);
}

GV_INLINE gv_enclosure gv_shared_enclosure(const gv_shared *shared, unsigned which, uint32_t x_bits) {
    const gv_parabola *v = &shared->parabola[which];
    return gv_enclosure_make(gv_on_parabola(v, x_bits), 0.0, v->e);
}

/* Whether the function falls in a tile, which lies between two turning points. */
GV_INLINE int gv_falls_in(const gv_rules *rules, const gv_tile *tile) {
    return (gv_monotone_piece(rules, tile->first) % 2 == 0) == (rules->falls_first != 0);
}

/* One output after that of the input before it in its tile: few move against the function by more than one float, and
   only those are examined. Ranks reach +-(2^63 - 1), so nothing is added to one of them, and one of them is not
   subtracted from another. */
GV_INLINE void gv_tally_step(const gv_rules *rules, gv_tally *own, int falls, gv_point previous, gv_point p,
                             int width) {
    int64_t here = gv_rank(p.got), before = gv_rank(previous.got);
    if (falls ? here - 1 > before : here < before - 1) gv_count_rise(rules, &own->row, &own->facts, previous, p, width);
}

typedef struct { int parabola, plain, falls; } gv_strip_kind;

GV_INLINE void gv_judge_lane(const gv_rules *rules, const gv_tile *tile, gv_shared *shared, gv_tally *own,
                             const uint32_t *y, int64_t ordinal, gv_strip_kind kind, gv_undecided_list undecided) {
    const gv_format *fmt = &rules->fmt;
    int64_t at = tile->place + (ordinal - tile->first);
    uint32_t x_bits = (uint32_t)gv_bits_at(ordinal, 32), got_bits = y[at];
    double x = gv_decode_32(x_bits), got = gv_decode_32(got_bits);
    gv_point p = {ordinal, gv_ordinal(got_bits, 32)};
    gv_judgement judgement;
    int analytic = gv_is_analytic(rules, tile, x_bits, got_bits, &judgement);
    if (!analytic) {
        gv_enclosure v = kind.parabola ? gv_shared_enclosure(shared, 0, x_bits) : gv_judged::enclosure(x);
        judgement = gv_judge_output<gv_judged>(v, x, got_bits, got, fmt, &rules->truth, kind.plain);
    }
    gv_tally_output(rules, shared, own, &judgement, x_bits, got_bits, p, undecided);
#ifdef GV_APPROXIMATED
    if (!analytic) {
        gv_enclosure v = kind.parabola ? gv_shared_enclosure(shared, 1, x_bits) : gv_approximated::enclosure(x);
        judgement = gv_judge_output<gv_approximated>(v, x, got_bits, got, fmt, &rules->approximated, kind.plain);
    }
    gv_tally_approximation(&judgement, own, x_bits, got_bits, ordinal, undecided);
#endif
    if (ordinal == tile->first) return;
    gv_point previous = {ordinal - 1, gv_ordinal(y[at - 1], 32)};
    gv_tally_step(rules, own, kind.falls, previous, p, 32);
}

/* Inputs are consecutive, and so are their outputs in y, by whole blocks. */
GV_INLINE void gv_judge_strips(const gv_rules *rules, const gv_tile *tile, gv_shared *shared, gv_tally *tallies,
                               const uint32_t *y, gv_undecided_list undecided) {
    const int64_t last = tile->first + tile->count - 1, whole = ~(int64_t)(GV_STRIP - 1);
    const int falls = gv_falls_in(rules, tile);
    for (int64_t start = tile->first & whole; start <= last; start += GV_STRIP) {
        uint32_t first_bits = (uint32_t)gv_bits_at(start, 32);
        uint32_t last_bits = (uint32_t)gv_bits_at(start + GV_STRIP - 1, 32);
        int dense = start >= tile->first && start + GV_STRIP - 1 <= last && tile->region >= 0;
        int smooth = dense && gv_has_parabola(first_bits, last_bits, GV_STRIP);
        GV_EACH_LANE(lane) {
            if (lane == 0) shared->special = 0;
            if (smooth) gv_share_enclosures(shared, lane, first_bits);
        }
        GV_EACH_LANE(lane) {
            int64_t ordinal = start + lane;
            if (ordinal >= tile->first && ordinal <= last) {
                uint32_t x = (uint32_t)gv_bits_at(ordinal, 32) & 0x7fffffffu;
                uint32_t got = y[tile->place + (ordinal - tile->first)] & 0x7fffffffu;
                if (got >= 0x7f800000u || x >= 0x7f800000u || x == 0) GV_SET_FLAG(shared->special);
            }
            if (smooth) gv_share_parabola(shared, lane, first_bits);
        }
        gv_strip_kind kind = {smooth && !shared->special, !shared->special, falls};
        GV_EACH_LANE(lane) {
            int64_t ordinal = start + lane;
            if (ordinal >= tile->first && ordinal <= last)
                gv_judge_lane(rules, tile, shared, &tallies[GV_TALLY_OF(lane)], y, ordinal, kind, undecided);
        }
    }
}

/* ---- float64: inputs drawn, in double-double ---- */

GV_INLINE void gv_judge_drawn(const gv_rules *rules, const gv_tile *tile, gv_shared *shared, gv_tally *own,
                              const uint64_t *x, const uint64_t *y, int64_t j, int falls, gv_undecided_list undecided) {
    const gv_format *fmt = &rules->fmt;
    uint64_t x_bits = x[tile->place + j], got_bits = y[tile->place + j];
    double input = gv_from_bits(x_bits), got = gv_from_bits(got_bits);
    gv_point p = {gv_ordinal(x_bits, 64), gv_ordinal(got_bits, 64)};
    gv_judgement judgement = gv_judge_in_double_double<gv_judged>(input, got_bits, got, fmt, &rules->truth);
    gv_tally_output(rules, shared, own, &judgement, x_bits, got_bits, p, undecided);
#ifdef GV_APPROXIMATED
    judgement = gv_judge_in_double_double<gv_approximated>(input, got_bits, got, fmt, &rules->approximated);
    if (fabs(judgement.error) > DBL_MAX && fabs(got) <= DBL_MAX) judgement.error = DBL_MAX;
    gv_tally_approximation(&judgement, own, x_bits, got_bits, p.x, undecided);
#endif
    if (j == 0) return;
    gv_point previous = {gv_ordinal(x[tile->place + j - 1], 64), gv_ordinal(y[tile->place + j - 1], 64)};
    gv_tally_step(rules, own, falls, previous, p, 64);
}

/* ---- a tile, by a block ---- */

GV_INLINE void gv_begin_tile(gv_shared *shared, gv_tally *tallies) {
    GV_EACH_LANE(lane) {
        if (lane < GV_BINS) shared->hist[lane] = 0;
        memset(&tallies[GV_TALLY_OF(lane)], 0, sizeof *tallies);
    }
}

/* What the merged tally lacks: the histogram, and the ends of the tile. */
GV_INLINE void gv_end_tile(const gv_shared *shared, gv_tally *sum, uint64_t x_first, uint64_t x_last,
                           uint64_t got_first, uint64_t got_last, int width) {
    for (int k = 0; k < GV_BINS; k++) sum->row.hist[k] = shared->hist[k];
    sum->ends.first.x = gv_ordinal(x_first, width);
    sum->ends.first.got = gv_ordinal(got_first, width);
    sum->ends.last.x = gv_ordinal(x_last, width);
    sum->ends.last.got = gv_ordinal(got_last, width);
}

#endif
