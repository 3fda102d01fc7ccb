/* Pairs (x, second input) of g f(x) or f(x + b), in a format of 16 bits: judged and counted by strips of many second
   inputs at one x, all in the row of that x. A second input is added with its outputs at every x, and waits until there
   are GV_STRIP of them.

   product   f(x) is evaluated once, in double-double; h has 42 bits, so that g h is exact, and g l is off by 2^-53 of
             itself where l has more (gelu_verify/buckets/pairs.py). What lies beside a number stays beside it: g l has
             its sign
   sum       t + rest = x + b exactly; f(t) as the other judges enclose it (strip_enclosure.h), f'(t) rest added where
             f(t) has a leading term: t/2 or t. Bound: see gv_enclose_sums
   E         ulp_error.h, where y may overflow and outputs may be infinite; what that does not decide, judge.h with a
             value in double-double, then the oracle
   Rows, regions and facts are those of count.h and dense.h (pair_count.h); a result in the hash has the weight of its
   second input too. Second inputs that are 0 or no finite number are judged by the caller (gv_add_judged_second).

   Test   tests/buckets/test_pairs.py, against the judge of one second input and the reducer of one */
#ifndef GV_BUCKETS_PAIRS_H
#define GV_BUCKETS_PAIRS_H
#include "pair_count.h"

/* ---- a strip ---- */

/* x is NaN, infinite, or a zero where f has a value of its own: one by one */
static void gv_add_pairs_at_limit(gv_pairs *p, uint64_t x_bits, size_t n) {
    gv_reducer *r = p->r;
    gv_strip *s = &r->strip;
    int is_zero = !(x_bits & 0x7fff), is_nan = (int64_t)(x_bits & 0x7fff) > r->rules.infinity;
    const double limit = p->at_infinity[!(x_bits >> 15)], *at_zero = p->at_zero[x_bits >> 15];
    for (size_t i = 0; i < n; i++) {
        double g = p->is_product ? p->second[i] : 1.0;
        if (is_zero) {
            gv_judge_pair(p, i, gv_exact(at_zero[1] * g));
            double error = s->error[i];
            uint32_t want = s->want[i];
            int64_t faithful = s->faithful[i];
            gv_judge_pair(p, i, gv_exact(at_zero[0] * g));
            if (fabs(error) < fabs(s->error[i])) s->error[i] = error, s->want[i] = want, s->faithful[i] = faithful;
        } else {
            gv_judge_pair(p, i,
                          is_nan                   ? gv_undefined()
                          : fabs(limit) <= DBL_MAX ? gv_exact(limit * g)
                                                   : gv_value_make(limit * g, 0.0, 0.0, 0));
            uint32_t magnitude = s->got_bits[i] & 0x7fff;
            s->faithful[i] = is_nan ? magnitude > (uint32_t)r->rules.infinity : s->got_bits[i] == s->want[i];
            s->error[i] = NAN;
        }
        gv_count_lane(p, i, x_bits);
    }
}

/* The outputs of those that wait at one x, by second input. */
static void gv_add_pairs_at(gv_pairs *p, int64_t ordinal, const uint16_t *got) {
    gv_reducer *r = p->r;
    gv_strip *s = &r->strip;
    const gv_format *fmt = &r->rules.fmt;
    const size_t n = p->count;
    const uint32_t x_bits = (uint32_t)gv_bits_at(ordinal, 16), size = x_bits & 0x7fff,
                   infinity = (uint32_t)r->rules.infinity;
    uint32_t weight[GV_STRIP];
    for (size_t i = 0; i < n; i++) {
        s->got_bits[i] = got[i];
        s->x_bits[i] = size | p->above_x[i];
    }
    gv_add_rises(p, &r->rows[gv_bucket(ordinal, 16)], ordinal, n);
    if (size >= infinity || (!size && p->is_product)) {
        gv_add_pairs_at_limit(p, x_bits, n);
        return;
    }
    if (p->is_product) gv_enclose_products(s, p->second, p->factors[ordinal + GV_INPUTS / 2], n);
    else gv_enclose_sums(s, r->rules.truth.function, gv_decode(x_bits, fmt), p->second, n);
    gv_decode_outputs(s, fmt, n);
    gv_all_of all = gv_judge_pairs(s, fmt, infinity, n);
    for (size_t i = 0; !all.decided && i < n; i++)
        if (!s->decided[i]) gv_decide_pair(p, i, x_bits);
    for (size_t i = 0; !all.decided && i < n; i++) all.scored &= fabs(s->error[i]) <= DBL_MAX;
    size_t left = all.scored ? n : gv_count_unscored(p, x_bits, weight, n);
    if (left) gv_count_scored(p, ordinal, x_bits, all.scored ? p->weight : weight, left);
    for (size_t i = 0; !all.scored && i < n; i++) p->lane[i] = (int32_t)i;
}

/* ---- second inputs ---- */

static int gv_compare_turned(const void *a, const void *b) {
    int32_t one = ((const gv_turned *)a)->x, other = ((const gv_turned *)b)->x;
    return (one > other) - (one < other);
}

static int gv_compare_seconds(const void *a, const void *b) {
    int64_t one = ((const gv_second *)a)->ordinal, other = ((const gv_second *)b)->ordinal;
    return (one > other) - (one < other);
}

/* Judges and counts what waits. */
static void gv_flush_pairs(gv_pairs *p) {
    const gv_rules *rules = &p->r->rules;
    uint16_t tile[GV_PAIR_TILE][GV_STRIP];
    if (!p->count) return;
    p->turn_count = p->next_turn = 0;
    qsort(p->waiting, p->count, sizeof *p->waiting, gv_compare_seconds); /* x + b ascends where b does */
    for (size_t i = 0; i < p->count; i++) {
        const gv_second *second = &p->waiting[i];
        p->second[i] = gv_decode(second->bits, &rules->fmt);
        for (int64_t k = 0; k < rules->turn_count; k++)
            p->turned[p->turn_count++] = (gv_turned){(int32_t)second->turns[k] + 1, (int32_t)i};
        p->down[i] = second->falls_first ? 0 : -1;
        p->before[p->here][i] = GV_NO_ORDINAL;
        p->weight[i] = gv_weight_of_second(second->bits);
        p->above_x[i] = second->stays_below_x ? 0 : 0x7fff;
        p->lane[i] = (int32_t)i;
    }
    qsort(p->turned, p->turn_count, sizeof *p->turned, gv_compare_turned);
    p->r->region = 0;
    for (size_t from = 0; from < GV_INPUTS; from += GV_PAIR_TILE) {
        for (size_t i = 0; i < p->count; i++) {
            const uint16_t *row = p->got + p->waiting[i].row * GV_OUTPUTS_APART + from;
            for (size_t k = 0; k < GV_PAIR_TILE; k++) tile[k][i] = row[k];
        }
        for (size_t k = 0; k < GV_PAIR_TILE; k++) gv_add_pairs_at(p, (int64_t)(from + k) - GV_INPUTS / 2, tile[k]);
    }
    p->count = 0;
}

static void gv_free_pairs(gv_pairs *p) {
    if (!p) return;
    free(p->got);
    free(p);
}

/* NULL when there is no memory */
static gv_pairs *gv_new_pairs(gv_reducer *r) {
    gv_pairs *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->got = malloc(sizeof *p->got * GV_STRIP * GV_OUTPUTS_APART);
    p->r = r;
    p->worst.error = -1.0;
    r->first_row = 0;
    r->end_row = GV_BUCKETS;
    if (p->got) return p;
    gv_free_pairs(p);
    return NULL;
}

/* A second input that is a finite number and not 0, and the outputs at every x, by ordinal. */
static void gv_add_second(gv_pairs *p, gv_second second, const uint16_t *got) {
    second.row = p->count;
    second.ordinal = gv_ordinal(second.bits, 16);
    memcpy(p->got + second.row * GV_OUTPUTS_APART, got, GV_INPUTS * sizeof *got);
    p->waiting[p->count++] = second;
    if (p->count == GV_STRIP) gv_flush_pairs(p);
}

/* Any second input, whose outputs at every x the caller has judged by the rules that it makes. */
static void gv_add_judged_second(gv_pairs *p, const gv_second *second, int64_t turn_count, int either_zero,
                                 const uint16_t *got, const uint16_t *want, const double *error,
                                 const unsigned char *faithful) {
    gv_reducer *r = p->r;
    gv_rules rules = r->rules; /* of the others */
    gv_point before = {0, 0};
    memcpy(r->rules.turns, second->turns, sizeof r->rules.turns);
    r->rules.turn_count = turn_count;
    r->rules.falls_first = second->falls_first;
    r->rules.tail_end = second->tail_end;
    r->rules.stays_below_x = second->stays_below_x;
    r->rules.either_zero = either_zero;
    r->region = 0;
    for (int64_t i = 0; i < GV_INPUTS; i++) {
        gv_point point = {i - GV_INPUTS / 2, gv_ordinal(got[i], 16)};
        gv_judged_output o = {gv_bits_at(point.x, 16), got[i], want[i], gv_without_noise(error[i]), faithful[i] != 0};
        gv_count_pair(p, &o, second->bits);
        if (i) gv_count_rise(&r->rules, &r->rows[i], &r->facts, before, point, 16);
        before = point;
    }
    r->rules = rules;
}

#endif
