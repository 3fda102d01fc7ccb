/* What judged outputs at one x add to the records: by vectors where all have an error, else one by one (pairs.h). */
#ifndef GV_BUCKETS_PAIR_COUNT_H
#define GV_BUCKETS_PAIR_COUNT_H
#include "pair_judge.h"

/* ---- counting ---- */

/* 32 bits and odd, as the weight of x in its block */
GV_INLINE uint32_t gv_weight_of_second(uint64_t bits) {
    return (uint32_t)(gv_mix((bits + 1) * UINT64_C(0xd1342543de82ef95)) >> 32) | 1u;
}

static void gv_note_worst_pair(gv_pairs *p, double error, int64_t ordinal, uint64_t x, uint64_t got, uint64_t want,
                               uint32_t second) {
    gv_worst before = p->worst;
    if (error < 0.0) return;
    gv_note_worst(&p->worst, before.error < 0.0, error, ordinal, x, got, want);
    int is_new = memcmp(&before, &p->worst, sizeof before) != 0;
    int same = error == p->worst.error && ordinal == p->worst.ordinal && got == p->worst.got && want == p->worst.want;
    if (is_new || (same && gv_ordinal(second, 16) < gv_ordinal(p->worst_second, 16))) p->worst_second = second;
}

/* one output; the rules are those of its second input */
static void gv_count_pair(gv_pairs *p, const gv_judged_output *o, uint32_t second) {
    gv_reducer *r = p->r;
    gv_point point = {gv_ordinal(o->x, 16), gv_ordinal(o->got, 16)};
    gv_row *row = &r->rows[gv_bucket(point.x, 16)];
    int64_t region = gv_region_of(r, point.x);
    uint64_t hash = row->bits_hash;
    row->bits_hash = 0;
    gv_count_output(&r->rules, row, region < 0 ? NULL : &r->regions[region], &r->facts, o, point, 16);
    row->bits_hash = hash + row->bits_hash * gv_weight_of_second(second);
    if (!(fabs(o->error) <= DBL_MAX)) return;
    row->hist[gv_bin(&r->rules, fabs(o->error))]++;
    gv_note_worst_pair(p, fabs(o->error), point.x, o->x, o->got, o->want, second);
}

GV_INLINE void gv_take_rules_of(gv_pairs *p, size_t i) {
    p->r->rules.tail_end = p->waiting[i].tail_end;
    p->r->rules.stays_below_x = p->waiting[i].stays_below_x;
}

static void gv_count_lane(gv_pairs *p, size_t i, uint64_t x_bits) {
    const gv_strip *s = &p->r->strip;
    gv_judged_output o = {x_bits, s->got_bits[i], s->want[i], s->error[i], s->faithful[i] != 0};
    gv_take_rules_of(p, i);
    gv_count_pair(p, &o, p->waiting[i].bits);
}

/* Counts what has no error one by one, and takes it out of the strip; how many are left. */
static size_t gv_count_unscored(gv_pairs *p, uint64_t x_bits, uint32_t *weight, size_t n) {
    gv_strip *s = &p->r->strip;
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(s->error[i]) <= DBL_MAX)) {
            gv_count_lane(p, i, x_bits);
            continue;
        }
        s->x_bits[left] = s->x_bits[i];
        s->got_bits[left] = s->got_bits[i];
        s->want[left] = s->want[i];
        s->error[left] = s->error[i];
        s->faithful[left] = s->faithful[i];
        weight[left] = p->weight[i];
        p->lane[left++] = (int32_t)i;
    }
    return left;
}

/* of the largest errors the one with the least bits of output, of result, and the first */
GV_CLONES static int64_t gv_least_worst(const gv_strip *s, int64_t worst, size_t n) {
    int64_t least = INT64_MAX, place = 0;
    for (size_t i = 0; i < n; i++, place++) {
        int64_t absolute = (int64_t)(gv_to_bits(s->error[i]) & (UINT64_MAX >> 1));
        int64_t key = (int64_t)s->got_bits[i] << 32 | (int64_t)s->want[i] << 16 | place;
        key = absolute == worst ? key : INT64_MAX;
        least = key < least ? key : least;
    }
    return least;
}

/* the least and the largest output that is finite */
GV_CLONES static void gv_find_extremes(const gv_strip *s, uint32_t infinity, int32_t *lowest, int32_t *highest,
                                       size_t n) {
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (size_t i = 0; i < n; i++) {
        int32_t sign = -(int32_t)(s->got_bits[i] >> 15), magnitude = (int32_t)(s->got_bits[i] & 0x7fff);
        int32_t ordinal = magnitude ^ sign, is_finite = magnitude < (int32_t)infinity;
        low = is_finite && ordinal < low ? ordinal : low;
        high = is_finite && ordinal > high ? ordinal : high;
    }
    *lowest = low;
    *highest = high;
}

/* zeros that have not the sign of the zero that is due */
GV_CLONES static uint32_t gv_count_zero_signs(const gv_strip *s, size_t n) {
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((s->got_bits[i] & 0x7fff) == 0) & ((s->want[i] & 0x7fff) == 0) & (s->got_bits[i] != s->want[i]);
    return count;
}

static void gv_note_worst_of_pairs(gv_pairs *p, gv_row *row, gv_region *region, int64_t ordinal, uint64_t x_bits,
                                   int64_t worst, size_t n) {
    double error = gv_from_bits((uint64_t)worst);
    int may = error > p->worst.error || (error == p->worst.error && ordinal <= p->worst.ordinal);
    int in_region = region && (!region->n || error > region->worst.error ||
                               (error == region->worst.error && ordinal <= region->worst.ordinal));
    if (row->n && error < row->worst.error && !may && !in_region) return;
    int64_t key = gv_least_worst(&p->r->strip, worst, n);
    uint64_t got = (uint64_t)key >> 32, want = (uint64_t)key >> 16 & 0xffff;
    gv_note_worst(&row->worst, !row->n, error, ordinal, x_bits, got, want);
    if (region) gv_note_worst(&region->worst, !region->n, error, ordinal, x_bits, got, want);
    gv_note_worst_pair(p, error, ordinal, x_bits, got, want, p->waiting[p->lane[key & 0xffff]].bits);
}

/* The facts of flagged outputs; their counts are in the row already. */
static void gv_note_facts_of_pairs(gv_pairs *p, const gv_bit_totals *t, uint32_t zero_signs, int64_t ordinal,
                                   uint64_t x_bits, size_t n) {
    gv_reducer *r = p->r;
    gv_facts *facts = &r->facts;
    int asked = (t->wrong_sign && gv_may_be_nearest(&facts->wrong_sign, ordinal)) ||
                (zero_signs && gv_may_be_nearest(&facts->zero_sign, ordinal)) ||
                (t->zero_lost && ordinal < 0 && gv_may_be_nearest(&facts->zero_from, ordinal)) ||
                (t->beyond && gv_may_be_nearest(&facts->beyond_x, ordinal));
    for (size_t i = 0; asked && i < n; i++) {
        const gv_strip *s = &r->strip;
        gv_judged_output o = {x_bits, s->got_bits[i], s->want[i], 0.0, 0};
        gv_row counted = {.n = 0};
        gv_take_rules_of(p, (size_t)p->lane[i]);
        gv_count_flags(&r->rules, &counted, facts, &o, (gv_point){ordinal, gv_ordinal(o.got, 16)}, 16);
        if (r->rules.stays_below_x && (o.got & 0x7fff) > (x_bits & 0x7fff))
            gv_note_nearest(&facts->beyond_x, ordinal, o.got, 0, 0);
    }
}

static void gv_note_extremes_of_pairs(gv_pairs *p, const gv_bit_totals *t, int64_t ordinal, size_t n) {
    const gv_rules *rules = &p->r->rules;
    int32_t low = t->lowest, high = t->highest;
    if (high >= rules->infinity || low <= -1 - rules->infinity)
        gv_find_extremes(&p->r->strip, (uint32_t)rules->infinity, &low, &high, n);
    if (low > high) return;
    gv_note_extreme(&p->r->facts.lowest, low, ordinal);
    gv_note_extreme(&p->r->facts.highest, -(int64_t)high, ordinal);
}

/* A strip of outputs that are all scored. */
static void gv_count_scored(gv_pairs *p, int64_t ordinal, uint64_t x_bits, const uint32_t *weight, size_t n) {
    gv_reducer *r = p->r;
    gv_strip *s = &r->strip;
    gv_row *row = &r->rows[gv_bucket(ordinal, 16)];
    int64_t index = gv_region_of(r, ordinal), above[GV_COUNTED_EDGES] = {0};
    gv_region *region = index < 0 ? NULL : &r->regions[index];
    int32_t rank[GV_STRIP + 1];
    gv_rank_strip(s, rank, 16, n);
    gv_count_errors(s, n, above);
    gv_error_totals errors = gv_total_errors(s, n);
    gv_bit_totals t = gv_total_bits(s, rank, 0, r->rules.either_zero != 0, 16, n);
    gv_note_worst_of_pairs(p, row, region, ordinal, x_bits, errors.worst, n);
    row->n += (uint32_t)n;
    if (region) region->n += (int64_t)n;
    row->correct += t.correct;
    row->faithful += (uint32_t)errors.faithful;
    row->error_sum += errors.error_sum;
    if (t.differences)
        row->bits_hash +=
            gv_hash_block(s->got_bits, s->want, weight, n) * gv_weight_in_block(x_bits) * gv_weight_of_block(x_bits);
    gv_add_histogram(row, &r->rules, s, above, n);
    if (t.max_rank > r->facts.max_rank) r->facts.max_rank = t.max_rank;
    uint32_t zero_signs = !r->rules.either_zero && t.differences >> 15 ? gv_count_zero_signs(s, n) : 0;
    row->zero_sign += zero_signs;
    if (t.wrong_sign) row->nearest[GV_WRONG_SIGN] = x_bits & 0x7fff;
    if (t.zero_lost) row->nearest[GV_ZERO_LOST] = x_bits & 0x7fff;
    row->count[GV_WRONG_SIGN] += t.wrong_sign;
    row->count[GV_ZERO_LOST] += t.zero_lost;
    gv_note_facts_of_pairs(p, &t, zero_signs, ordinal, x_bits, n);
    gv_note_extremes_of_pairs(p, &t, ordinal, n);
}

#endif
