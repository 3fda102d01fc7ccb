/* Runs of consecutive float32 inputs, as many as there are, in the order of a comb: the call meets
   x[GV_TEETH j + t] = the input of ordinal first + t n/GV_TEETH + j. Neighbours in a register are then no neighbours
   on the line, and making, checking and reading such inputs costs nothing. */
#ifndef GV_REDUCE_COMB_H
#define GV_REDUCE_COMB_H
#include "answers.h"

#define GV_TEETH 8

/* bits of an ordinal of 32 bits */
GV_INLINE uint32_t gv_bits_32(int32_t ordinal) {
    return (uint32_t)ordinal ^ ((0u - (uint32_t)(ordinal < 0)) & 0x7fffffffu);
}

/* n inputs, a multiple of GV_TEETH, and one more: the first again, so that the call has an odd length */
GV_CLONES static void gv_comb(int64_t first, uint32_t *x, size_t n) {
    int32_t teeth = (int32_t)(n / GV_TEETH), start = (int32_t)first;
    for (int32_t j = 0; j < teeth; j++)
        for (int32_t t = 0; t < GV_TEETH; t++) x[GV_TEETH * j + t] = gv_bits_32(start + t * teeth + j);
    x[n] = x[0];
}

#define GV_ROWS 16 /* rows of the comb that are compared at once */

/* whether x is no longer what gv_comb wrote */
GV_CLONES static int gv_is_changed(int64_t first, const uint32_t *x, size_t n) {
    int32_t pattern[GV_ROWS * GV_TEETH], teeth = (int32_t)(n / GV_TEETH);
    uint32_t changed = x[n] ^ x[0];
    for (int32_t i = 0; i < GV_ROWS * GV_TEETH; i++)
        pattern[i] = (int32_t)first + i % GV_TEETH * teeth + i / GV_TEETH;
    for (int32_t j = 0; j < teeth; j += GV_ROWS) {
        int32_t size = GV_TEETH * (teeth - j < GV_ROWS ? teeth - j : GV_ROWS);
        for (int32_t i = 0; i < size; i++) changed |= gv_bits_32(pattern[i] + j) ^ x[GV_TEETH * j + i];
    }
    return changed != 0;
}

enum { GV_SAME, GV_HALF, GV_CONSTANT, GV_NAN }; /* x, x/2 (exact), the constant, any NaN that is quiet where x is */

/* differences, as one word: of x from the inputs that were handed out, of got from what is settled beforehand */
typedef struct { uint32_t x, got; } gv_difference;

/* x is settled: all inputs have one sign; sealed: x cannot have been changed, and is not looked at */
GV_INLINE gv_difference gv_compare_kind(const gv_span *span, int64_t kind, int sealed, int64_t first, const uint32_t *x,
                                        const uint32_t *got, size_t n) {
    uint32_t pattern[GV_ROWS * GV_TEETH], changed = sealed ? 0 : x[n] ^ x[0], other = 0, constant = (uint32_t)span->constant;
    size_t teeth = n / GV_TEETH;
    for (int i = 0; i < GV_ROWS * GV_TEETH; i++)
        pattern[i] = gv_bits_32((int32_t)(first + (int64_t)(i % GV_TEETH * teeth) + i / GV_TEETH));
    for (size_t j = 0; j < teeth; j += GV_ROWS) {
        size_t size = GV_TEETH * (teeth - j < GV_ROWS ? teeth - j : GV_ROWS);
        uint32_t step = first < 0 ? 0u - (uint32_t)j : (uint32_t)j;
        const uint32_t *part = x + GV_TEETH * j, *answers = got + GV_TEETH * j;
        for (size_t i = 0; i < size; i++) {
            uint32_t bits = pattern[i] + step, answer = answers[i];
            if (!sealed) changed |= bits ^ part[i];
            if (kind == GV_NAN) other |= ((answer & 0x7fffffffu) <= 0x7f800000u ? 1u : 0u) | (bits & ~answer & 0x400000u);
            else other |= answer ^ (kind == GV_SAME ? bits : kind == GV_HALF ? bits - 0x800000u : constant);
        }
    }
    return (gv_difference){changed, other};
}

#define GV_DEFINE_COMPARE(name, sealed) \
    GV_CLONES static gv_difference name(const gv_span *span, int64_t first, const uint32_t *x, const uint32_t *got, \
                                        size_t n) { \
        switch (span->kind) { \
            case GV_SAME: return gv_compare_kind(span, GV_SAME, sealed, first, x, got, n); \
            case GV_HALF: return gv_compare_kind(span, GV_HALF, sealed, first, x, got, n); \
            case GV_CONSTANT: return gv_compare_kind(span, GV_CONSTANT, sealed, first, x, got, n); \
            default: return gv_compare_kind(span, GV_NAN, sealed, first, x, got, n); \
        } \
    }
GV_DEFINE_COMPARE(gv_compare, 0)
GV_DEFINE_COMPARE(gv_compare_sealed, 1)

/* sum of the errors of answers that are the leading term, of m consecutive inputs, as gv_judge_strip finds them */
GV_CLONES static int64_t gv_drift_sum(int64_t first, gv_series series, double scale, size_t m) {
    int64_t sum = 0;
    int32_t start = (int32_t)first;
    for (size_t i = 0; i < m; i++) {
        double x = gv_decode_32(gv_bits_32(start + (int32_t)i));
        double error = -(gv_next_terms(x, series) * scale); /* within 1/8; noise rounds to 0 units by itself */
        sum += (int64_t)(gv_to_bits(error * GV_SUM_SCALE + GV_SHIFTER) - gv_to_bits(GV_SHIFTER));
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
    truth->values(s->x, s->hi, s->lo, s->err, 2);
    return gv_judge_strip(s, &r->rules.fmt, 0, 1, 2) && s->unit[0] == s->unit[1] && fabs(s->error[0]) <= 0.125 &&
           fabs(s->error[1]) <= 0.125;
}

#define GV_STRETCHES 66 /* most buckets of a run that can be settled */

/* What a run of settled answers in one bucket adds. */
typedef struct {
    int64_t first, last, error_sum;
    uint32_t got_first, got_last;
    double error_first, error_last;
} gv_stretch;

/* gv_hash_result of a stretch of one sign in which every result differs from the right one in the same bits */
static uint64_t gv_hash_stretch(const gv_weights *weights, const gv_stretch *t, uint64_t difference) {
    uint64_t sum = 0;
    for (int64_t o = t->first, next; o <= t->last; o = next) {
        uint64_t x = gv_bits_32((int32_t)o);
        int whole = (o & (GV_HASH_BLOCK - 1)) == 0 && t->last - o >= GV_HASH_BLOCK - 1;
        next = o + (whole ? GV_HASH_BLOCK : 1);
        sum += (whole ? weights->sum : gv_weight_in_block(x)) * gv_weight_of_block(x);
    }
    return sum * difference;
}

static void gv_note_stretch(gv_reducer *r, const gv_stretch *t, const gv_span *span, int64_t region) {
    gv_row *row = &r->rows[gv_bucket(t->first, 32)];
    int scored = span->kind != GV_NAN, late = fabs(t->error_last) > fabs(t->error_first);
    int64_t o = late ? t->last : t->first;
    uint64_t x = gv_bits_32((int32_t)o), got = late ? t->got_last : t->got_first;
    uint64_t want = !scored ? r->rules.truth.limits[0] : span->kind == GV_CONSTANT ? span->required : got;
    double error = scored ? fabs(late ? t->error_last : t->error_first) : -1.0;
    uint32_t m = (uint32_t)(t->last - t->first + 1);
    gv_note_worst(&row->worst, !row->n, error, o, x, got, want);
    if (region >= 0) {
        gv_region *seen = &r->regions[region];
        gv_note_worst(&seen->worst, !seen->n, error, o, x, got, want);
        seen->n += m;
    }
    row->n += m;
    row->correct += span->accepted ? m : 0;
    row->faithful += m;
    row->error_sum += t->error_sum;
    if (scored && got != want) row->bits_hash += gv_hash_stretch(&r->weights, t, got ^ want);
    if (scored) row->hist[0] += m;
}

/* The errors of a stretch whose answers are the leading term; 0 where they are not of one binade. */
static int gv_drift(gv_reducer *r, gv_stretch *t) {
    const gv_rules *rules = &r->rules;
    const int64_t ends[2] = {t->first, t->last};
    const uint32_t got[2] = {t->got_first, t->got_last};
    if (rules->approximated.values) {
        gv_strip *s = &r->second;
        if (!gv_judge_ends(r, s, &rules->approximated, ends, got)) return 0;
        for (int k = 0; k < 2; k++) {
            gv_note_farthest(&r->facts.approximation_ulp, fabs(s->error[k]), ends[k]);
            gv_note_farthest(&r->facts.approximation_abs, fabs(s->error[k]) * s->unit[k], ends[k]);
        }
    }
    gv_strip *s = &r->strip;
    if (!gv_judge_ends(r, s, &rules->truth, ends, got)) return 0;
    t->error_first = s->error[0];
    t->error_last = s->error[1];
    t->error_sum = gv_drift_sum(t->first, rules->truth.series, 1.0 / s->unit[0], (size_t)(t->last - t->first + 1));
    return 1;
}

static void gv_note_settled_facts(gv_reducer *r, const gv_span *span, int64_t first, int64_t last, const uint32_t *got,
                                  size_t n) {
    r->previous = (gv_point){last, gv_ordinal(got[n - 1], 32)};
    if (span->kind == GV_NAN) return;
    int64_t low = gv_ordinal(got[0], 32), high = r->previous.got;
    gv_note_extreme(&r->facts.lowest, low, first);
    gv_note_extreme(&r->facts.highest, -high, high == low ? first : last);
    if (!r->rules.approximated.values || span->drifts) return;
    gv_note_farthest(&r->facts.approximation_ulp, 0.0, first);
    gv_note_farthest(&r->facts.approximation_abs, 0.0, first);
}

/* A run of one sign in which every answer is the settled one: errors are 0, or those of a leading term; or there are
   none (NaN). 0 when it must be judged one by one. */
static int gv_add_settled(gv_reducer *r, const gv_span *span, int64_t first, const uint32_t *got, size_t n) {
    const int64_t within = 65535;
    int64_t last = first + (int64_t)n - 1, region = gv_region_of(r, first);
    size_t teeth = n / GV_TEETH;
    gv_stretch stretches[GV_STRETCHES];
    int count = 0;
    for (int64_t o = first, end; o <= last; o = end + 1) {
        end = (o | within) < last ? o | within : last;
        size_t place = (size_t)(o - first), other = (size_t)(end - first);
        gv_stretch t = {o, end, 0, got[GV_TEETH * (place % teeth) + place / teeth],
                        got[GV_TEETH * (other % teeth) + other / teeth], 0.0, 0.0};
        if (count == GV_STRETCHES || (span->drifts && !gv_drift(r, &t))) return 0;
        stretches[count++] = t;
    }
    for (int k = 0; k < count; k++) gv_note_stretch(r, &stretches[k], span, region);
    gv_note_settled_facts(r, span, first, last, got, n);
    return 1;
}

/* Answers in the order of their inputs, a cache line of each tooth at a time; 0 when there is no memory. */
static int gv_order_comb(gv_reducer *r, const uint32_t *got, size_t n) {
    size_t teeth = n / GV_TEETH;
    if (n > r->ordered_room) {
        uint32_t *grown = realloc(r->ordered, n * sizeof *grown);
        if (!grown) return 0;
        r->ordered = grown;
        r->ordered_room = n;
    }
    for (size_t j = 0; j < teeth; j += GV_ROWS)
        for (size_t t = 0; t < GV_TEETH; t++)
            for (size_t i = j; i < j + GV_ROWS && i < teeth; i++) r->ordered[t * teeth + i] = got[GV_TEETH * i + t];
    return 1;
}

/* The strip of m consecutive inputs that begins with `first`, with its answers. */
GV_CLONES static void gv_fill_comb_strip(gv_strip *s, int64_t first, const uint32_t *got, size_t m) {
    int32_t start = (int32_t)first;
    for (size_t i = 0; i < m; i++) {
        s->got_bits[i] = got[i];
        s->x_bits[i] = gv_bits_32(start + (int32_t)i);
        s->x[i] = gv_decode_32(s->x_bits[i]);
        s->got[i] = gv_decode_32(s->got_bits[i]);
    }
}

#define GV_NO_MEMORY -1
#define GV_ADDED 0
#define GV_CHANGED 1

/* The answers to a comb of n inputs; GV_CHANGED when x is no longer what gv_comb wrote: nothing is kept then. Not looked
   at where x is sealed. */
static int gv_add_comb(gv_reducer *r, int64_t first, const uint32_t *x, const uint32_t *got, int sealed, size_t n) {
    const gv_rules *rules = &r->rules;
    int64_t last = first + (int64_t)n - 1;
    gv_point start = {first, gv_ordinal(got[0], 32)};
    if (!gv_begin_run(r)) return GV_NO_MEMORY;
    for (int64_t k = 0; k < rules->span_count; k++) {
        const gv_span *span = &rules->spans[k];
        if (first < span->first || last > span->last || (first < 0) != (last < 0)) continue;
        if (span->kind == GV_CONSTANT && got[0] != (uint32_t)span->constant) continue;
        gv_difference difference = (sealed ? gv_compare_sealed : gv_compare)(span, first, x, got, n);
        if (difference.x) return GV_CHANGED;
        if (difference.got || !gv_add_settled(r, span, first, got, n)) continue;
        gv_end_run(r, start);
        return GV_ADDED;
    }
    if (!sealed && gv_is_changed(first, x, n)) return GV_CHANGED;
    if (!gv_order_comb(r, got, n)) return GV_NO_MEMORY;
    for (size_t place = 0, m; place < n; place += m) {
        m = GV_STRIP - (place ? 0 : (size_t)(first & (GV_STRIP - 1))); /* whole blocks */
        m = n - place < m ? n - place : m;
        gv_fill_comb_strip(&r->strip, first + (int64_t)place, r->ordered + place, m);
        gv_add_strip(r, m);
    }
    gv_end_run(r, start);
    return GV_ADDED;
}

#endif
