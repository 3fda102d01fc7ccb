/* Outputs that are judged here, strip by strip: y is enclosed, E found and counted while all is in the L1 cache. */
#ifndef GV_BUCKETS_OUTPUTS_H
#define GV_BUCKETS_OUTPUTS_H
#include "same_binade.h"

/* Largest error against the function that is approximated, in ulp and absolute. */
static void gv_note_approximation(gv_reducer *r, const gv_strip *s, size_t n) {
    const int width = r->rules.fmt.width;
    double ulp = -1.0, distance = -1.0;
    size_t worst = 0, farthest = 0;
    for (size_t i = 0; i < n; i++) {
        double absolute = fabs(s->error[i]), off = absolute * s->unit[i];
        if (!(absolute <= DBL_MAX)) continue;
        if (absolute > ulp) ulp = absolute, worst = i;
        if (off > distance) distance = off, farthest = i;
    }
    if (ulp < 0.0) return;
    gv_note_farthest(&r->facts.approximation_ulp, ulp, gv_ordinal(s->x_bits[worst], width));
    gv_note_farthest(&r->facts.approximation_abs, distance, gv_ordinal(s->x_bits[farthest], width));
}

/* whether inputs are consecutive, in one bucket, one region, one monotone piece: counted by vectors */
GV_INLINE int gv_is_dense(gv_reducer *r, int64_t first, int64_t last, size_t n) {
    const gv_rules *rules = &r->rules;
    int width = rules->fmt.width;
    if (n < 16 || last - first != (int64_t)n - 1) return 0;
    if (gv_bucket(first, width) != gv_bucket(last, width)) return 0;
    if (gv_monotone_piece(rules, first) != gv_monotone_piece(rules, last)) return 0;
    int64_t region = gv_region_of(r, first);
    return region >= 0 && last < rules->edges[region + 1];
}

/* no input and no output is NaN or infinite, no input is 0 */
GV_CLONES static int gv_is_plain(const gv_strip *s, uint32_t infinity, int width, size_t n) {
    const uint32_t mask = (1u << (width - 1)) - 1;
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = s->x_bits[i] & mask;
        special |= ((s->got_bits[i] & mask) >= infinity) | (x >= infinity) | (x == 0);
    }
    return !special;
}

/* one output after the other */
static void gv_count_each(gv_reducer *r, const gv_strip *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        gv_judged_output o = {s->x_bits[i], s->got_bits[i], s->want[i], s->error[i], s->faithful[i] != 0};
        gv_count_one(r, &o, r->rules.fmt.width);
    }
}

/* The strip r->strip (x, got and their bits filled in), n inputs that ascend, next in their run. */
static void gv_add_strip(gv_reducer *r, size_t n) {
    const gv_rules *rules = &r->rules;
    const int width = rules->fmt.width;
    gv_strip *s = &r->strip;
    int64_t first = gv_ordinal(s->x_bits[0], width), last = gv_ordinal(s->x_bits[n - 1], width);
    int dense = gv_is_dense(r, first, last, n);
    gv_strip_traits traits = {gv_is_plain(s, (uint32_t)rules->infinity, width, n), dense, dense};
    int has_lo = gv_enclose_inputs(s, &rules->truth, &rules->fmt, traits, n);
    if (!(dense && traits.plain && gv_add_if_same_binade(r, s, has_lo, first, n))) {
        int scored = gv_judge_strip(s, &rules->truth, &rules->fmt, r->oracle, r->owner, 0, traits, has_lo, n);
        if (dense && scored) gv_add_dense(r, s, first, n);
        else gv_count_each(r, s, n);
    }
    if (!rules->approximated.function) return;
    traits.monotone = 0; /* the other function may turn in between */
    has_lo = gv_enclose_inputs(s, &rules->approximated, &rules->fmt, traits, n);
    if (traits.plain && gv_note_if_same_binade(r, s, has_lo, n)) return;
    gv_judge_strip(s, &rules->approximated, &rules->fmt, r->oracle, r->owner, 1, traits, has_lo, n);
    gv_note_approximation(r, s, n);
}

GV_INLINE void gv_fill_strip(gv_strip *s, int width, const gv_format *fmt, const void *x, const void *got, size_t start,
                             size_t n) {
    for (size_t i = 0; i < n; i++) {
        s->x_bits[i] = (uint32_t)gv_read(x, start + i, width);
        s->got_bits[i] = (uint32_t)gv_read(got, start + i, width);
        s->x[i] = width == 32 ? gv_decode_32(s->x_bits[i]) : gv_decode(s->x_bits[i], fmt);
        s->got[i] = width == 32 ? gv_decode_32(s->got_bits[i]) : gv_decode(s->got_bits[i], fmt);
    }
}

/* A run of outputs in a format of 16 or 32 bits; 0 when there is no memory; n > 0, x ascends. */
static int gv_add_outputs(gv_reducer *r, const void *x, const void *got, size_t n) {
    const gv_format *fmt = &r->rules.fmt;
    gv_point first = {gv_ordinal(gv_read(x, 0, fmt->width), fmt->width),
                      gv_ordinal(gv_read(got, 0, fmt->width), fmt->width)};
    if (!gv_begin_run(r)) return 0;
    int64_t last = gv_ordinal(gv_read(x, n - 1, fmt->width), fmt->width);
    /* consecutive inputs: strips are whole blocks */
    size_t lead = last - first.x == (int64_t)n - 1 ? (size_t)(first.x & (GV_STRIP - 1)) : 0;
    for (size_t start = 0, m; start < n; start += m) {
        m = GV_STRIP - (start ? 0 : lead);
        m = n - start < m ? n - start : m;
        if (fmt->width == 16) gv_fill_strip(&r->strip, 16, fmt, x, got, start, m);
        else gv_fill_strip(&r->strip, 32, fmt, x, got, start, m);
        gv_add_strip(r, m);
    }
    gv_end_run(r, first);
    return 1;
}

#endif
