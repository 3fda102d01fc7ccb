/* A run of consecutive float32 inputs in strided order (strided.h), with the outputs: by comparison where the results
   are analytic (analytic_spans.h), else judged strip by strip (outputs.h). */
#ifndef GV_BUCKETS_STRIDED_RUN_H
#define GV_BUCKETS_STRIDED_RUN_H
#include "analytic_parts.h"

enum { GV_NO_MEMORY = -1, GV_ADDED, GV_CHANGED, GV_NOT_ANALYTIC };

/* The strip of m consecutive inputs that begins with `first`, with its outputs. */
GV_CLONES static void gv_fill_consecutive(gv_strip *s, int64_t first, const uint32_t *got, size_t m) {
    int32_t start = (int32_t)first;
    for (size_t i = 0; i < m; i++) {
        s->got_bits[i] = got[i];
        s->x_bits[i] = gv_bits_32(start + (int32_t)i);
        s->x[i] = gv_decode_32(s->x_bits[i]);
        s->got[i] = gv_decode_32(s->got_bits[i]);
    }
}

#define GV_BUCKET 65536 /* inputs */

/* Consecutive inputs by strips, with their outputs. */
static void gv_add_strips(gv_reducer *r, int64_t first, const uint32_t *got, size_t n) {
    for (size_t place = 0, m; place < n; place += m) {
        m = GV_STRIP - (place ? 0 : (size_t)(first & (GV_STRIP - 1))); /* whole blocks */
        m = n - place < m ? n - place : m;
        gv_fill_consecutive(&r->strip, first + (int64_t)place, got + place, m);
        gv_add_strip(r, m);
    }
}

/* GV_ADDED where all outputs are the results of an analytic span, GV_CHANGED where x was changed, or GV_NOT_ANALYTIC */
static int gv_try_analytic(gv_reducer *r, int64_t first, const uint32_t *x, const uint32_t *got, int sealed, size_t n) {
    int64_t last = first + (int64_t)n - 1;
    for (int64_t k = 0; k < r->rules.span_count; k++) {
        const gv_span *span = &r->rules.spans[k];
        if (first < span->first || last > span->last || (first < 0) != (last < 0)) continue;
        if (span->kind == GV_CONSTANT && got[0] != (uint32_t)span->constant) continue;
        gv_difference difference = (sealed ? gv_compare_sealed : gv_compare)(span, first, x, got, n);
        if (difference.x) return GV_CHANGED;
        if (!difference.got && gv_add_analytic(r, span, first, got, n / GV_STREAMS, n)) return GV_ADDED;
    }
    return GV_NOT_ANALYTIC;
}

/* The outputs of n inputs in strided order; GV_CHANGED when x is no longer what gv_fill_strided wrote, and then nothing
   is kept. A sealed x cannot have been changed, and is not looked at. */
static int gv_add_strided(gv_reducer *r, int64_t first, const uint32_t *x, const uint32_t *got, int sealed, size_t n) {
    gv_point start = {first, gv_ordinal(got[0], 32)};
    if (!gv_begin_run(r)) return GV_NO_MEMORY;
    int tried = gv_try_analytic(r, first, x, got, sealed, n);
    if (tried == GV_CHANGED || (tried != GV_ADDED && !sealed && gv_is_changed(first, x, n))) return GV_CHANGED;
    if (tried != GV_ADDED) {
        if (!gv_order_outputs(r, got, n)) return GV_NO_MEMORY;
        for (size_t place = 0, m; place < n; place += m) {
            int64_t o = first + (int64_t)place;
            m = GV_BUCKET - (size_t)(o & (GV_BUCKET - 1));
            m = n - place < m ? n - place : m;
            if (!gv_add_part(r, o, r->ordered + place, m)) gv_add_strips(r, o, r->ordered + place, m);
        }
    }
    gv_end_run(r, start);
    return GV_ADDED;
}

#endif
