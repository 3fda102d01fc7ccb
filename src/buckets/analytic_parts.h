/* Parts of a run of float32, each in one bucket, outputs in the order of their inputs: whether all outputs of a part are
   the analytic results (analytic_spans.h), or one infinity where those are finite. A run that leaves a span, or whose
   outputs overflow somewhere in it, is then judged one by one only where it must be.

   Test   test_a_strided_run_is_counted_as_its_inputs_one_by_one in tests/buckets/test_reducer.py */
#ifndef GV_BUCKETS_ANALYTIC_PARTS_H
#define GV_BUCKETS_ANALYTIC_PARTS_H
#include "analytic_spans.h"

/* 0 where all outputs are the analytic results */
GV_CLONES static uint32_t gv_compare_part(int64_t kind, uint32_t constant, int64_t first, const uint32_t *got,
                                          size_t n) {
    uint32_t other = 0;
    for (size_t i = 0; i < n; i++)
        other |= gv_off_analytic(kind, gv_bits_32((int32_t)first + (int32_t)i), got[i], constant);
    return other;
}

GV_CLONES static uint32_t gv_compare_with(uint32_t bits, const uint32_t *got, size_t n) {
    uint32_t other = 0;
    for (size_t i = 0; i < n; i++) other |= got[i] ^ bits;
    return other;
}

/* Hash of results that are all one infinity. */
static uint64_t gv_hash_infinities(gv_reducer *r, const gv_span *span, int64_t first, uint32_t infinity, size_t n) {
    gv_strip *s = &r->strip;
    uint64_t sum = 0;
    for (size_t from = 0, m; from < n; from += m) {
        m = n - from < GV_STRIP ? n - from : GV_STRIP;
        for (size_t i = 0; i < m; i++) {
            s->x_bits[i] = gv_bits_32((int32_t)(first + (int64_t)(from + i)));
            s->got_bits[i] = infinity;
            s->want[i] = gv_analytic_result(span->kind, s->x_bits[i], (uint32_t)span->required);
        }
        sum += gv_hash_strip(&r->weights, s, first + (int64_t)from, m);
    }
    return sum;
}

/* Outputs that are one infinity, of the sign of the finite results: what gv_count_one adds for each. */
static void gv_add_infinities(gv_reducer *r, const gv_span *span, int64_t first, uint32_t infinity, size_t n) {
    int64_t last = first + (int64_t)n - 1, index = gv_region_of(r, first), nearest = first < 0 ? last : first;
    gv_row *row = &r->rows[gv_bucket(first, 32)];
    gv_region *region = index < 0 ? NULL : &r->regions[index];
    uint32_t x = gv_bits_32((int32_t)first), want = gv_analytic_result(span->kind, x, (uint32_t)span->required);
    uint32_t before = row->count[GV_NONFINITE];
    gv_note_worst(&row->worst, !row->n, -1.0, first, x, infinity, want);
    if (region) gv_note_worst(&region->worst, !region->n, -1.0, first, x, infinity, want);
    if (region) region->n += (int64_t)n;
    row->n += (uint32_t)n;
    row->bits_hash += gv_hash_infinities(r, span, first, infinity, n);
    gv_note_flag(row, GV_NONFINITE, (uint64_t)gv_size(nearest));
    row->count[GV_NONFINITE] = before + (uint32_t)n;
    gv_note_nearest(&r->facts.nonfinite, nearest, infinity, 0, 0);
    r->previous = (gv_point){last, gv_ordinal(infinity, 32)};
}

/* whether all outputs are one infinity, where the results of a span are finite and have its sign */
static int gv_is_infinite(const gv_rules *rules, const gv_span *span, int64_t first, const uint32_t *got, size_t n) {
    uint32_t want = gv_analytic_result(span->kind, gv_bits_32((int32_t)first), (uint32_t)span->required);
    uint32_t infinity = (uint32_t)rules->infinity | (want & 0x80000000u);
    return span->kind != GV_NAN && !span->is_first_order && got[0] == infinity && got[n - 1] == infinity &&
           !gv_compare_with(infinity, got, n);
}

/* A part, next in its run; 0, and nothing changed, where it is to be judged one by one. */
static int gv_add_part(gv_reducer *r, int64_t first, const uint32_t *got, size_t n) {
    int64_t last = first + (int64_t)n - 1;
    gv_point before = r->previous, start = {first, gv_ordinal(got[0], 32)};
    if ((first < 0) != (last < 0)) return 0;
    for (int64_t k = 0; k < r->rules.span_count; k++) {
        const gv_span *span = &r->rules.spans[k];
        uint32_t constant = (uint32_t)span->constant;
        if (first < span->first || last > span->last) continue;
        if (gv_is_infinite(&r->rules, span, first, got, n)) {
            gv_add_infinities(r, span, first, got[0], n);
        } else {
            if (gv_off_analytic(span->kind, gv_bits_32((int32_t)first), got[0], constant) ||
                gv_off_analytic(span->kind, gv_bits_32((int32_t)last), got[n - 1], constant) ||
                gv_compare_part(span->kind, constant, first, got, n) || !gv_add_analytic(r, span, first, got, n, n))
                continue;
        }
        if (r->has_previous) gv_count_rise(&r->rules, &r->rows[gv_bucket(first, 32)], &r->facts, before, start, 32);
        r->has_previous = 1;
        return 1;
    }
    return 0;
}

#endif
