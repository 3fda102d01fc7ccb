/* Runs of float32 whose correctly rounded results are analytic, that is, given by a formula: x, x/2, a constant, NaN
   (gelu_verify/buckets/analytic_spans.py finds the spans and proves them). Where all outputs of a run are those
   results, comparing bits replaces judging; what the run adds to the records is what judging would add, byte for byte.

   Errors    below GV_NOISE = 2^-17 ulp, so 0; where the span is of first order (x/2 or 1/2 alone, up to |x| < 2^-20)
             E is what the next terms come to, at most 1/8 ulp: the two ends of each bucket are judged, and the sum of
             all errors is computed from the series (enclosure.h)
   Kind      proved by the oracle at the first input of a span and monotone from there (analytic_spans.py)
   Tests     test_analytic_results_are_the_correctly_rounded_ones_with_errors_below_the_noise and
             test_a_strided_run_is_counted_as_its_inputs_one_by_one in tests/buckets/test_reducer.py */
#ifndef GV_BUCKETS_ANALYTIC_SPANS_H
#define GV_BUCKETS_ANALYTIC_SPANS_H
#include "strided.h"

/* ---- comparing ---- */

/* differences, as one word: of x from the inputs that were handed out, of got from the analytic results */
typedef struct { uint32_t x, got; } gv_difference;

/* the analytic result at an input, as a target returns it; not of kind GV_NAN */
GV_INLINE uint32_t gv_analytic_result(int64_t kind, uint32_t x, uint32_t constant) {
    return kind == GV_SAME ? x : kind == GV_HALF ? x - 0x800000u : constant;
}

/* 0 where an output is the analytic result at x */
GV_INLINE uint32_t gv_off_analytic(int64_t kind, uint32_t x, uint32_t got, uint32_t constant) {
    if (kind == GV_NAN) return ((got & 0x7fffffffu) <= 0x7f800000u ? 1u : 0u) | (x & ~got & 0x400000u);
    return got ^ gv_analytic_result(kind, x, constant);
}

/* all inputs have one sign; sealed: x cannot have been changed, and is not looked at */
GV_INLINE gv_difference gv_compare_kind(const gv_span *span, int64_t kind, int sealed, int64_t first, const uint32_t *x,
                                        const uint32_t *got, size_t n) {
    uint32_t pattern[GV_ROWS * GV_STREAMS], changed = sealed ? 0 : x[n] ^ x[0], other = 0;
    const uint32_t constant = (uint32_t)span->constant;
    size_t stride = n / GV_STREAMS;
    for (int i = 0; i < GV_ROWS * GV_STREAMS; i++)
        pattern[i] = gv_bits_32((int32_t)(first + (int64_t)(i % GV_STREAMS * stride) + i / GV_STREAMS));
    for (size_t j = 0; j < stride; j += GV_ROWS) {
        size_t size = GV_STREAMS * (stride - j < GV_ROWS ? stride - j : GV_ROWS);
        uint32_t step = first < 0 ? 0u - (uint32_t)j : (uint32_t)j;
        const uint32_t *inputs = x + GV_STREAMS * j, *outputs = got + GV_STREAMS * j;
        for (size_t i = 0; i < size; i++) {
            uint32_t bits = pattern[i] + step;
            if (!sealed) changed |= bits ^ inputs[i];
            other |= gv_off_analytic(kind, bits, outputs[i], constant);
        }
    }
    return (gv_difference){changed, other};
}

/* a loop for each kind */
GV_INLINE gv_difference gv_compare_any(const gv_span *span, int sealed, int64_t first, const uint32_t *x,
                                       const uint32_t *got, size_t n) {
    switch (span->kind) {
        case GV_SAME: return gv_compare_kind(span, GV_SAME, sealed, first, x, got, n);
        case GV_HALF: return gv_compare_kind(span, GV_HALF, sealed, first, x, got, n);
        case GV_CONSTANT: return gv_compare_kind(span, GV_CONSTANT, sealed, first, x, got, n);
        default: return gv_compare_kind(span, GV_NAN, sealed, first, x, got, n);
    }
}

GV_CLONES static gv_difference gv_compare(const gv_span *span, int64_t first, const uint32_t *x, const uint32_t *got,
                                          size_t n) {
    return gv_compare_any(span, 0, first, x, got, n);
}

GV_CLONES static gv_difference gv_compare_sealed(const gv_span *span, int64_t first, const uint32_t *x,
                                                 const uint32_t *got, size_t n) {
    return gv_compare_any(span, 1, first, x, got, n);
}

/* ---- errors of first order ---- */

/* The error of an output that is the leading term, as gv_judge_strip finds it, in units of error_sum; scale: 1/u(y) */
GV_INLINE int64_t gv_first_order_units(int64_t ordinal, gv_series series, double scale) {
    double error = -(gv_next_terms(gv_decode_32(gv_bits_32((int32_t)ordinal)), series) * scale);
    return gv_sum_units(error); /* within 1/8; noise rounds to 0 units by itself */
}

/* Sum of the errors of m consecutive outputs of one sign that are the leading term. They are monotone in x, as computed
   too: from one input to the next, terms that go with x or x^2 grow by 2^-24 of themselves at least, and roundings are
   below 2^-50. So each number of units has one run of inputs, whose end is found by bisection. */
static int64_t gv_first_order_sum(int64_t first, gv_series series, double scale, size_t m) {
    int64_t sum = 0, end = first + (int64_t)m;
    for (int64_t o = first, next; o < end; o = next) {
        int64_t units = gv_first_order_units(o, series, scale), same = o;
        for (next = end; next - same > 1;) {
            int64_t middle = same + (next - same) / 2;
            if (gv_first_order_units(middle, series, scale) == units) same = middle;
            else next = middle;
        }
        sum += units * (next - o);
    }
    return sum;
}

/* Two ends of a run in the strip `s`, judged: 0 where they do not have one u(y) and errors within 1/8. The error grows
   with |x| (it is that of leaving out what comes after x/2 or 1/2), so what holds at the ends holds between them. */
static int gv_judge_ends(gv_reducer *r, gv_strip *s, const gv_truth *truth, const int64_t *ends, const uint32_t *got) {
    for (int k = 0; k < 2; k++) {
        s->x_bits[k] = gv_bits_32((int32_t)ends[k]);
        s->got_bits[k] = got[k];
        s->x[k] = gv_decode_32(s->x_bits[k]);
        s->got[k] = gv_decode_32(got[k]);
    }
    gv_enclose_strip(truth->function, s->x, s->hi, s->lo, s->err, 2);
    return gv_ulp_errors(s, &r->rules.fmt, 0, 1, 2) && s->unit[0] == s->unit[1] && fabs(s->error[0]) <= 0.125 &&
           fabs(s->error[1]) <= 0.125;
}

/* ---- what a run adds ---- */

#define GV_MOST_PARTS 66 /* buckets of a run */

/* The part of a run in one bucket. */
typedef struct {
    int64_t first, last, error_sum;
    uint32_t got_first, got_last;
    double error_first, error_last;
} gv_part;

/* The errors of a part whose outputs are the leading term; 0 where they are not of one binade. */
static int gv_find_first_order(gv_reducer *r, gv_part *part) {
    const gv_rules *rules = &r->rules;
    const int64_t ends[2] = {part->first, part->last};
    const uint32_t got[2] = {part->got_first, part->got_last};
    gv_strip *s = &r->strip;
    if (rules->approximated.function) {
        if (!gv_judge_ends(r, s, &rules->approximated, ends, got)) return 0;
        for (int k = 0; k < 2; k++) {
            gv_note_farthest(&r->facts.approximation_ulp, fabs(s->error[k]), ends[k]);
            gv_note_farthest(&r->facts.approximation_abs, fabs(s->error[k]) * s->unit[k], ends[k]);
        }
    }
    if (!gv_judge_ends(r, s, &rules->truth, ends, got)) return 0;
    part->error_first = s->error[0];
    part->error_last = s->error[1];
    part->error_sum = gv_first_order_sum(part->first, rules->truth.function->series, 1.0 / s->unit[0],
                                         (size_t)(part->last - part->first + 1));
    return 1;
}

/* gv_hash_result of a part of one sign in which every result differs from the right one in the same bits */
static uint64_t gv_hash_part(const gv_weights *weights, const gv_part *part, uint64_t difference) {
    uint64_t sum = 0;
    for (int64_t o = part->first, next; o <= part->last; o = next) {
        uint64_t x = gv_bits_32((int32_t)o);
        int whole = (o & (GV_HASH_BLOCK - 1)) == 0 && part->last - o >= GV_HASH_BLOCK - 1;
        next = o + (whole ? GV_HASH_BLOCK : 1);
        sum += (whole ? weights->sum : gv_weight_in_block(x)) * gv_weight_of_block(x);
    }
    return sum * difference;
}

/* region: of the run, or -1 */
static void gv_count_part(gv_reducer *r, const gv_part *part, const gv_span *span, int64_t region) {
    gv_row *row = &r->rows[gv_bucket(part->first, 32)];
    int scored = span->kind != GV_NAN, late = fabs(part->error_last) > fabs(part->error_first);
    int64_t o = late ? part->last : part->first;
    uint64_t x = gv_bits_32((int32_t)o), got = late ? part->got_last : part->got_first;
    uint64_t want = !scored ? r->rules.truth.limits[0] : span->kind == GV_CONSTANT ? span->required : got;
    double error = scored ? fabs(late ? part->error_last : part->error_first) : -1.0;
    uint32_t m = (uint32_t)(part->last - part->first + 1);
    gv_note_worst(&row->worst, !row->n, error, o, x, got, want);
    if (region >= 0) {
        gv_region *records = &r->regions[region];
        gv_note_worst(&records->worst, !records->n, error, o, x, got, want);
        records->n += m;
    }
    row->n += m;
    row->correct += span->accepted ? m : 0;
    if (!span->accepted) {
        row->zero_sign += m;
        gv_note_nearest(&r->facts.zero_sign, part->first < 0 ? part->last : part->first, got, 0, 0);
    }
    row->faithful += m;
    row->error_sum += part->error_sum;
    if (scored && got != want) row->bits_hash += gv_hash_part(&r->weights, part, got ^ want);
    if (scored) row->hist[0] += m;
}

static void gv_note_analytic_facts(gv_reducer *r, const gv_span *span, int64_t first, int64_t last, const uint32_t *got,
                                   size_t n) {
    r->previous = (gv_point){last, gv_ordinal(got[n - 1], 32)};
    if (span->kind == GV_NAN) return;
    int64_t low = gv_ordinal(got[0], 32), high = r->previous.got;
    gv_note_extreme(&r->facts.lowest, low, first);
    gv_note_extreme(&r->facts.highest, -high, high == low ? first : last);
    if (!r->rules.approximated.function || span->is_first_order) return;
    gv_note_farthest(&r->facts.approximation_ulp, 0.0, first);
    gv_note_farthest(&r->facts.approximation_abs, 0.0, first);
}

/* A run of one sign in which every output is the analytic result; stride: of strided order (strided.h), or n where the
   outputs are in the order of the inputs. 0 where its errors of first order are not of one binade in some bucket: it
   must be judged one by one. */
static int gv_add_analytic(gv_reducer *r, const gv_span *span, int64_t first, const uint32_t *got, size_t stride,
                           size_t n) {
    const int64_t within = 65535; /* a bucket */
    int64_t last = first + (int64_t)n - 1, region = gv_region_of(r, first);
    gv_part parts[GV_MOST_PARTS];
    int count = 0;
    for (int64_t o = first, end; o <= last; o = end + 1) {
        end = (o | within) < last ? o | within : last;
        size_t from = (size_t)(o - first), to = (size_t)(end - first);
        gv_part part = {o, end, 0, got[from], got[to], 0.0, 0.0};
        if (stride < n) {
            part.got_first = got[gv_strided_place(from, stride)];
            part.got_last = got[gv_strided_place(to, stride)];
        }
        if (count == GV_MOST_PARTS || (span->is_first_order && !gv_find_first_order(r, &part))) return 0;
        parts[count++] = part;
    }
    for (int k = 0; k < count; k++) gv_count_part(r, &parts[k], span, region);
    gv_note_analytic_facts(r, span, first, last, got, n);
    return 1;
}

#endif
