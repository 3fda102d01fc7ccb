/* A strip of consecutive inputs in one bucket, one region and one monotone piece: sums and extremes by vectors. */
#ifndef GV_REDUCE_DENSE_H
#define GV_REDUCE_DENSE_H
#include "sparse.h"

typedef struct {
    int64_t error_sum, correct, faithful, wrong_sign, zero_lost, rises, beyond, max_rank, lowest, highest;
    int64_t above[5]; /* |E| above the first edges of the histogram */
    int64_t worst;    /* bits of the largest |E| */
} gv_totals;

/* rank[0] is that of the input before the strip; falls: 1 where the function falls, else -1 */
GV_CLONES static gv_totals gv_total(const gv_strip *s, const int64_t *rank, int64_t falls, int64_t either_zero,
                                    int width, size_t n) {
    gv_totals t = {.lowest = INT64_MAX, .highest = INT64_MIN};
    const uint64_t mask = (UINT64_C(1) << (width - 1)) - 1;
    const int64_t eighth = (int64_t)gv_bits_of(0.125), quarter = (int64_t)gv_bits_of(0.25);
    const int64_t half = (int64_t)gv_bits_of(0.5), most = (int64_t)gv_bits_of(0.75), one = (int64_t)gv_bits_of(1.0);
    for (size_t i = 0; i < n; i++) {
        int64_t absolute = (int64_t)(gv_bits_of(s->error[i]) & (UINT64_MAX >> 1));
        t.worst = absolute > t.worst ? absolute : t.worst;
        t.error_sum += gv_sum_units(s->error[i]);
        t.above[0] += absolute > eighth;
        t.above[1] += absolute > quarter;
        t.above[2] += absolute > half;
        t.above[3] += absolute > most;
        t.above[4] += absolute > one;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t got = s->got_bits[i], want = s->want[i];
        int64_t got_magnitude = (int64_t)(got & mask), want_magnitude = (int64_t)(want & mask);
        int64_t got_zero = got_magnitude == 0, want_zero = want_magnitude == 0;
        int64_t opposite = (int64_t)((got ^ want) >> (width - 1));
        int64_t want_rank = want > mask ? -want_magnitude : want_magnitude;
        int64_t distance = rank[i + 1] - want_rank, ordinal = rank[i + 1] - (got > mask);
        distance = distance < 0 ? -distance : distance;
        t.correct += (got == want) | (either_zero & got_zero & want_zero);
        t.faithful += (int64_t)(s->flags[i] / GV_FAITHFUL & 1);
        t.wrong_sign += opposite & (1 - got_zero);
        t.zero_lost += got_zero & (1 - want_zero);
        t.rises += (rank[i + 1] - rank[i]) * falls > 1;
        t.beyond += got_magnitude > (int64_t)(s->x_bits[i] & mask);
        t.max_rank = distance > t.max_rank ? distance : t.max_rank;
        t.lowest = ordinal < t.lowest ? ordinal : t.lowest;
        t.highest = ordinal > t.highest ? ordinal : t.highest;
    }
    return t;
}

static void gv_add_histogram(gv_row *row, const gv_rules *rules, const gv_strip *s, const gv_totals *t, size_t n) {
    if (t->above[4]) {
        for (size_t i = 0; i < n; i++) row->hist[gv_bin(rules, fabs(s->error[i]))]++;
        return;
    }
    int64_t left = (int64_t)n;
    for (int k = 0; k < 5; k++) {
        row->hist[k] += (uint32_t)(left - t->above[k]);
        left = t->above[k];
    }
}

static size_t gv_first_worst(const gv_strip *s, int64_t worst) {
    size_t i = 0;
    while ((int64_t)(gv_bits_of(s->error[i]) & (UINT64_MAX >> 1)) != worst) i++;
    return i;
}

/* Facts and flags that a strip has: again one by one, without sums. */
static void gv_note_strip(gv_reducer *r, gv_row *row, const gv_strip *s, int64_t ordinal, size_t n, int beyond) {
    int width = r->rules.fmt.width;
    for (size_t i = 0; i < n; i++) {
        gv_answer a = {s->x_bits[i], s->got_bits[i], s->want[i], 0.0, 0};
        gv_point p = {ordinal + (int64_t)i, gv_ordinal(a.got, width)};
        uint64_t mask = (UINT64_C(1) << (width - 1)) - 1;
        gv_count_flags(r, row, &a, p, width);
        if (beyond && (a.got & mask) > (a.x & mask)) gv_note_nearest(&r->facts.beyond_x, p.x, a.got, 0, 0);
        r->previous = p;
        r->has_previous = 1;
    }
}

static void gv_note_extremes(gv_reducer *r, const gv_strip *s, const gv_totals *t, int64_t ordinal, int width) {
    gv_facts *facts = &r->facts;
    size_t i = 0;
    if (!facts->lowest.met || t->lowest <= facts->lowest.value) {
        for (i = 0; gv_ordinal(s->got_bits[i], width) != t->lowest; i++) {}
        gv_note_extreme(&facts->lowest, t->lowest, ordinal + (int64_t)i);
    }
    if (!facts->highest.met || -t->highest <= facts->highest.value) {
        for (i = 0; gv_ordinal(s->got_bits[i], width) != t->highest; i++) {}
        gv_note_extreme(&facts->highest, -t->highest, ordinal + (int64_t)i);
    }
}

static void gv_note_worst_of_strip(gv_reducer *r, gv_row *row, const gv_strip *s, int64_t worst, int64_t ordinal,
                                   size_t n) {
    int64_t region = gv_region_of(r, ordinal);
    gv_region *seen = region < 0 ? NULL : &r->regions[region];
    double error = gv_double_of((uint64_t)worst);
    if (!row->n || error >= row->worst.error || (seen && (!seen->n || error >= seen->worst.error))) {
        size_t i = gv_first_worst(s, worst);
        int64_t place = ordinal + (int64_t)i;
        gv_note_worst(&row->worst, !row->n, error, place, s->x_bits[i], s->got_bits[i], s->want[i]);
        if (seen) gv_note_worst(&seen->worst, !seen->n, error, place, s->x_bits[i], s->got_bits[i], s->want[i]);
    }
    if (seen) seen->n += (int64_t)n;
}

/* A strip of consecutive inputs, all of them scored; what comes before it in its run is in r->previous. */
static void gv_add_dense(gv_reducer *r, const gv_strip *s, int64_t ordinal, size_t n) {
    const gv_rules *rules = &r->rules;
    const int width = rules->fmt.width;
    gv_row *row = &r->rows[gv_bucket(ordinal, width)];
    int64_t rank[GV_STRIP + 1];
    gv_point first = {ordinal, gv_ordinal(s->got_bits[0], width)};
    int crossing = r->has_previous && gv_violates(rules, r->previous, first);
    for (size_t i = 0; i < n; i++) {
        int64_t magnitude = (int64_t)(s->got_bits[i] & ((UINT64_C(1) << (width - 1)) - 1));
        rank[i + 1] = s->got_bits[i] >> (width - 1) ? -magnitude : magnitude;
    }
    rank[0] = rank[1];
    int64_t falls = (gv_piece(rules, ordinal) % 2 == 0) == (rules->falls_first != 0) ? 1 : -1;
    gv_totals t = gv_total(s, rank, falls, rules->either_zero, width, n);
    gv_note_worst_of_strip(r, row, s, t.worst, ordinal, n);
    row->n += (uint32_t)n;
    row->correct += (uint32_t)t.correct;
    row->faithful += (uint32_t)t.faithful;
    row->error_sum += t.error_sum;
    gv_add_histogram(row, rules, s, &t, n);
    if ((uint64_t)t.max_rank > r->facts.max_rank) r->facts.max_rank = (uint64_t)t.max_rank;
    int beyond = rules->stays_below_x && t.beyond;
    if (t.wrong_sign || t.zero_lost || t.rises || beyond || crossing) gv_note_strip(r, row, s, ordinal, n, beyond);
    else gv_note_extremes(r, s, &t, ordinal, width);
    r->previous = (gv_point){ordinal + (int64_t)n - 1, gv_ordinal(s->got_bits[n - 1], width)};
    r->has_previous = 1;
}

#endif
