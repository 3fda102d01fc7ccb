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

enum { GV_SAME, GV_HALF, GV_CONSTANT, GV_NAN }; /* x, x/2 (exact), the constant, any NaN */

/* differences, as one word: of x from the inputs that were handed out, of got from what is settled beforehand */
typedef struct { uint32_t x, got; } gv_difference;

#define GV_ROWS 16 /* rows of the comb that are compared at once */

/* x is settled: all inputs have one sign */
GV_INLINE gv_difference gv_compare_kind(const gv_span *span, int64_t kind, int64_t first, const uint32_t *x,
                                        const uint32_t *got, size_t n) {
    uint32_t pattern[GV_ROWS * GV_TEETH], changed = x[n] ^ x[0], other = 0, constant = (uint32_t)span->constant;
    size_t teeth = n / GV_TEETH;
    for (int i = 0; i < GV_ROWS * GV_TEETH; i++)
        pattern[i] = gv_bits_32((int32_t)(first + (int64_t)(i % GV_TEETH * teeth) + i / GV_TEETH));
    for (size_t j = 0; j < teeth; j += GV_ROWS) {
        size_t size = GV_TEETH * (teeth - j < GV_ROWS ? teeth - j : GV_ROWS);
        uint32_t step = first < 0 ? 0u - (uint32_t)j : (uint32_t)j;
        const uint32_t *part = x + GV_TEETH * j, *answers = got + GV_TEETH * j;
        for (size_t i = 0; i < size; i++) {
            uint32_t bits = pattern[i] + step, answer = answers[i];
            changed |= bits ^ part[i];
            if (kind == GV_NAN) other |= (answer & 0x7fffffffu) <= 0x7f800000u ? 1u : 0u;
            else other |= answer ^ (kind == GV_SAME ? bits : kind == GV_HALF ? bits - 0x800000u : constant);
        }
    }
    return (gv_difference){changed, other};
}

GV_CLONES static gv_difference gv_compare(const gv_span *span, int64_t first, const uint32_t *x, const uint32_t *got,
                                          size_t n) {
    switch (span->kind) {
        case GV_SAME: return gv_compare_kind(span, GV_SAME, first, x, got, n);
        case GV_HALF: return gv_compare_kind(span, GV_HALF, first, x, got, n);
        case GV_CONSTANT: return gv_compare_kind(span, GV_CONSTANT, first, x, got, n);
        default: return gv_compare_kind(span, GV_NAN, first, x, got, n);
    }
}

/* A run in which every answer is the settled one: errors are 0, or there are none (NaN). */
static void gv_add_settled(gv_reducer *r, const gv_span *span, int64_t first, const uint32_t *got, size_t n) {
    const size_t whole = 65536;
    int64_t last = first + (int64_t)n - 1, region = gv_region_of(r, first);
    size_t teeth = n / GV_TEETH;
    double error = span->kind == GV_NAN ? -1.0 : 0.0;
    for (int64_t o = first; o <= last;) {
        int64_t end = (o | (int64_t)(whole - 1)) < last ? o | (int64_t)(whole - 1) : last;
        uint32_t m = (uint32_t)(end - o + 1), x = gv_bits_32((int32_t)o);
        size_t place = (size_t)(o - first);
        uint64_t answer = got[GV_TEETH * (place % teeth) + place / teeth];
        uint64_t want = span->kind == GV_NAN ? r->rules.truth.limits[0] : answer;
        gv_row *row = &r->rows[gv_bucket(o, 32)];
        gv_note_worst(&row->worst, !row->n, error, o, x, answer, want);
        if (region >= 0) {
            gv_region *seen = &r->regions[region];
            gv_note_worst(&seen->worst, !seen->n, error, o, x, answer, want);
            seen->n += m;
        }
        row->n += m;
        row->correct += m;
        row->faithful += m;
        if (span->kind != GV_NAN) row->hist[0] += m;
        o = end + 1;
    }
    r->previous = (gv_point){last, gv_ordinal(got[n - 1], 32)};
    if (span->kind == GV_NAN) return;
    int64_t low = gv_ordinal(got[0], 32), high = r->previous.got;
    gv_note_extreme(&r->facts.lowest, low, first);
    gv_note_extreme(&r->facts.highest, -high, high == low ? first : last);
    if (!r->rules.approximated.values) return;
    gv_note_farthest(&r->facts.approximation_ulp, 0.0, first);
    gv_note_farthest(&r->facts.approximation_abs, 0.0, first);
}

/* The strip of m consecutive inputs that begins at `place` of the run; what differs from the inputs handed out. */
static uint32_t gv_fill_comb_strip(gv_strip *s, int64_t first, const uint32_t *x, const uint32_t *got, size_t teeth,
                                   size_t place, size_t m) {
    size_t at = GV_TEETH * (place % teeth) + place / teeth;
    int32_t start = (int32_t)(first + (int64_t)place);
    uint32_t changed = 0;
    for (size_t i = 0; i < m; i++) {
        uint32_t bits = gv_bits_32(start + (int32_t)i), answer = got[at + GV_TEETH * i];
        changed |= bits ^ x[at + GV_TEETH * i];
        s->x_bits[i] = bits;
        s->got_bits[i] = answer;
        s->x[i] = gv_decode_32(bits);
        s->got[i] = gv_decode_32(answer);
    }
    return changed;
}

#define GV_NO_MEMORY -1
#define GV_ADDED 0
#define GV_CHANGED 1

/* The answers to a comb of n inputs; GV_CHANGED when x is no longer what gv_comb wrote: nothing is worth keeping then. */
static int gv_add_comb(gv_reducer *r, int64_t first, const uint32_t *x, const uint32_t *got, size_t n) {
    const gv_rules *rules = &r->rules;
    int64_t last = first + (int64_t)n - 1;
    size_t teeth = n / GV_TEETH;
    gv_point start = {first, gv_ordinal(got[0], 32)};
    uint32_t changed = x[n] ^ x[0];
    if (!gv_begin_run(r)) return GV_NO_MEMORY;
    for (int64_t k = 0; k < rules->span_count; k++) {
        const gv_span *span = &rules->spans[k];
        if (first < span->first || last > span->last) continue;
        gv_difference difference = gv_compare(span, first, x, got, n);
        if (difference.x) return GV_CHANGED;
        if (difference.got) break;
        gv_add_settled(r, span, first, got, n);
        gv_end_run(r, start);
        return GV_ADDED;
    }
    for (size_t place = 0, m; place < n; place += m) {
        size_t rest = teeth - place % teeth;
        m = rest < GV_STRIP ? rest : GV_STRIP;
        changed |= gv_fill_comb_strip(&r->strip, first, x, got, teeth, place, m);
        gv_add_strip(r, m);
    }
    gv_end_run(r, start);
    return changed ? GV_CHANGED : GV_ADDED;
}

#endif
