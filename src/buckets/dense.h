/* What a strip of consecutive inputs in one bucket, one region and one monotone piece adds: sums and extremes by
   vectors. The same as sparse.h adds, output by output: test_a_strided_run_is_counted_as_its_inputs_one_by_one in
   tests/buckets/test_reducer.py. */
#ifndef GV_BUCKETS_DENSE_H
#define GV_BUCKETS_DENSE_H
#include "sparse.h"

#define GV_COUNTED_EDGES 9 /* the first edges of the histogram: 1/8, 1/4, 1/2, 3/4, 1, 3/2, 2, 3, 4 */

typedef struct { int64_t error_sum, faithful, worst; } gv_error_totals; /* worst: bits of the largest |E| */

typedef struct {
    uint32_t correct, wrong_sign, zero_lost, rises, beyond, max_rank, differences; /* of all results, as one word */
    int32_t lowest, highest; /* ordinals of outputs */
} gv_bit_totals;

GV_CLONES static gv_error_totals gv_total_errors(const gv_strip *s, size_t n) {
    gv_error_totals t = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        int64_t absolute = (int64_t)(gv_to_bits(s->error[i]) & (UINT64_MAX >> 1));
        t.worst = absolute > t.worst ? absolute : t.worst;
        t.error_sum += gv_sum_units(s->error[i]);
        t.faithful += s->faithful[i];
    }
    return t;
}

/* How many |E| of a strip are above each of those edges: an edge has one digit after the first, so the first 13 bits of
   |E| decide. */
GV_CLONES static void gv_count_errors(const gv_strip *s, size_t n, int64_t *above) {
    static const double edges[GV_COUNTED_EDGES] = {0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0};
    int16_t first_bits[GV_STRIP];
    for (size_t i = 0; i < n; i++)
        first_bits[i] = (int16_t)(((int64_t)(gv_to_bits(s->error[i]) & (UINT64_MAX >> 1)) - 1) >> 51);
    for (int k = 0; k < GV_COUNTED_EDGES; k++) {
        int16_t edge = (int16_t)(gv_to_bits(edges[k]) >> 51), count = 0;
        for (size_t i = 0; i < n; i++) count = (int16_t)(count + (first_bits[i] >= edge));
        above[k] = count;
        if (!count) break;
    }
}

/* ranks of the outputs; before them, where that of the output before the strip would be, the first again */
GV_CLONES static void gv_rank_strip(const gv_strip *s, int32_t *rank, int width, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int32_t sign = -(int32_t)(s->got_bits[i] >> (width - 1));
        rank[i + 1] = ((int32_t)(s->got_bits[i] & ((1u << (width - 1)) - 1)) ^ sign) - sign;
    }
    rank[0] = rank[1];
}

/* rank[0] is that of the input before the strip; down: 0 where the function falls, else -1; all ranks are finite */
GV_CLONES static gv_bit_totals gv_total_bits(const gv_strip *s, const int32_t *rank, int32_t down, uint32_t either_zero,
                                             int width, size_t n) {
    gv_bit_totals t = {.lowest = INT32_MAX, .highest = INT32_MIN};
    const uint32_t mask = (1u << (width - 1)) - 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t got = s->got_bits[i], want = s->want[i], got_zero = (got & mask) == 0, want_zero = (want & mask) == 0;
        int32_t negative = -(int32_t)(want >> (width - 1)), there = ((int32_t)(want & mask) ^ negative) - negative;
        int32_t here = rank[i + 1], ordinal = here - (int32_t)(got >> (width - 1));
        uint32_t distance = here > there ? (uint32_t)here - (uint32_t)there : (uint32_t)there - (uint32_t)here;
        t.correct += (got == want) | (either_zero & got_zero & want_zero);
        t.differences |= got ^ want;
        t.wrong_sign += ((got ^ want) >> (width - 1)) & (1 - got_zero);
        t.zero_lost += got_zero & (1 - want_zero);
        t.rises += ((here ^ down) - down) - 1 > (rank[i] ^ down) - down;
        t.beyond += (got & mask) > (s->x_bits[i] & mask);
        t.max_rank = distance > t.max_rank ? distance : t.max_rank;
        t.lowest = ordinal < t.lowest ? ordinal : t.lowest;
        t.highest = ordinal > t.highest ? ordinal : t.highest;
    }
    return t;
}

GV_CLONES static uint64_t gv_hash_block(const uint32_t *got, const uint32_t *want, const uint32_t *weights, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)(got[i] ^ want[i]) * weights[i];
    return sum;
}

/* gv_hash_result of all results of a strip, none of them NaN */
static uint64_t gv_hash_strip(const gv_weights *weights, const gv_strip *s, int64_t ordinal, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0, m; i < n; i += m) {
        size_t place = (size_t)((ordinal + (int64_t)i) & (GV_HASH_BLOCK - 1));
        m = GV_HASH_BLOCK - place < n - i ? GV_HASH_BLOCK - place : n - i;
        sum += gv_hash_block(s->got_bits + i, s->want + i, weights->along[ordinal < 0] + place, m) *
               gv_weight_of_block(s->x_bits[i]);
    }
    return sum;
}

static void gv_add_histogram(gv_row *row, const gv_rules *rules, const gv_strip *s, const int64_t *above, size_t n) {
    if (above[GV_COUNTED_EDGES - 1]) {
        for (size_t i = 0; i < n; i++) row->hist[gv_bin(rules, fabs(s->error[i]))]++;
        return;
    }
    int64_t left = (int64_t)n;
    for (int k = 0; k < GV_COUNTED_EDGES; k++) {
        row->hist[k] += (uint32_t)(left - above[k]);
        left = above[k];
    }
}

/* the first of the largest errors */
GV_CLONES static size_t gv_first_worst(const gv_strip *s, int64_t worst, size_t n) {
    int64_t first = GV_STRIP;
    for (size_t i = 0; i < n; i++) {
        int64_t absolute = (int64_t)(gv_to_bits(s->error[i]) & (UINT64_MAX >> 1));
        int64_t place = absolute == worst ? (int64_t)i : GV_STRIP;
        first = place < first ? place : first;
    }
    return (size_t)first;
}

/* the first output with those bits */
GV_CLONES static size_t gv_first_output(const gv_strip *s, uint32_t bits, size_t n) {
    int32_t first = GV_STRIP;
    for (size_t i = 0; i < n; i++) {
        int32_t place = s->got_bits[i] == bits ? (int32_t)i : GV_STRIP;
        first = place < first ? place : first;
    }
    return (size_t)first;
}

/* the conditions of gv_total_bits, of each output */
GV_CLONES static void gv_mark_flagged(const gv_strip *s, const int32_t *rank, int32_t down, uint32_t beyond, int width,
                                      unsigned char *flagged, size_t n) {
    const uint32_t mask = (1u << (width - 1)) - 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t got = s->got_bits[i], want = s->want[i], opposite = (got ^ want) >> (width - 1);
        uint32_t lost = ((got & mask) == 0) & ((want & mask) != 0);
        uint32_t rises = ((rank[i + 1] ^ down) - down) - 1 > (rank[i] ^ down) - down;
        flagged[i] = (unsigned char)(opposite | lost | rises | (beyond & ((got & mask) > (s->x_bits[i] & mask))));
    }
}

/* The flags of a strip, one flagged output after the other. */
static void gv_note_strip(gv_reducer *r, gv_row *row, const gv_strip *s, int32_t down, int64_t ordinal, size_t n,
                          int beyond) {
    unsigned char flagged[GV_STRIP];
    int32_t rank[GV_STRIP + 1];
    const int width = r->rules.fmt.width;
    const uint64_t mask = (UINT64_C(1) << (width - 1)) - 1;
    gv_rank_strip(s, rank, width, n);
    gv_mark_flagged(s, rank, down, beyond != 0, width, flagged, n);
    for (size_t i = 0; i < n; i++) {
        if (i && !flagged[i]) continue;
        gv_judged_output o = {s->x_bits[i], s->got_bits[i], s->want[i], 0.0, 0};
        gv_point p = {ordinal + (int64_t)i, gv_ordinal(o.got, width)};
        if (i) r->previous = (gv_point){p.x - 1, gv_ordinal(s->got_bits[i - 1], width)};
        r->has_previous |= i > 0;
        gv_count_flags(&r->rules, row, &r->facts, &o, p, width);
        if (r->has_previous) gv_count_rise(&r->rules, row, &r->facts, r->previous, p, width);
        if (beyond && (o.got & mask) > (o.x & mask)) gv_note_nearest(&r->facts.beyond_x, p.x, o.got, 0, 0);
    }
}

static void gv_note_extremes(gv_reducer *r, const gv_strip *s, const gv_bit_totals *t, int64_t ordinal, int width,
                             size_t n) {
    gv_facts *facts = &r->facts;
    int64_t low = t->lowest, high = t->highest;
    if (!facts->lowest.present || low <= facts->lowest.value)
        gv_note_extreme(&facts->lowest, low,
                        ordinal + (int64_t)gv_first_output(s, (uint32_t)gv_bits_at(low, width), n));
    if (!facts->highest.present || -high <= facts->highest.value)
        gv_note_extreme(&facts->highest, -high,
                        ordinal + (int64_t)gv_first_output(s, (uint32_t)gv_bits_at(high, width), n));
}

static void gv_note_worst_of_strip(gv_reducer *r, gv_row *row, const gv_strip *s, int64_t worst, int64_t ordinal,
                                   size_t n) {
    int64_t index = gv_region_of(r, ordinal);
    gv_region *region = index < 0 ? NULL : &r->regions[index];
    double error = gv_from_bits((uint64_t)worst);
    if (!row->n || error >= row->worst.error || (region && (!region->n || error >= region->worst.error))) {
        size_t i = gv_first_worst(s, worst, n);
        int64_t place = ordinal + (int64_t)i;
        gv_note_worst(&row->worst, !row->n, error, place, s->x_bits[i], s->got_bits[i], s->want[i]);
        if (region) gv_note_worst(&region->worst, !region->n, error, place, s->x_bits[i], s->got_bits[i], s->want[i]);
    }
    if (region) region->n += (int64_t)n;
}

/* A strip of the left tail in which every output is a zero that it should not be: its right end is nearest to zero.
   0 where it is not one. */
static int gv_note_lost_tail(gv_reducer *r, gv_row *row, const gv_bit_totals *t, int64_t ordinal, size_t n) {
    int64_t last = ordinal + (int64_t)n - 1;
    if (t->zero_lost != n || last > r->rules.tail_end || t->lowest != t->highest) return 0;
    uint32_t before = row->count[GV_ZERO_LOST];
    gv_note_flag(row, GV_ZERO_LOST, (uint64_t)gv_size(last));
    row->count[GV_ZERO_LOST] = before + (uint32_t)n;
    uint64_t got = gv_bits_at(t->lowest, r->rules.fmt.width);
    gv_note_nearest(&r->facts.zero_from, last, got, 0, 0);
    return 1;
}

/* whether the function falls at an input, and until the next turning point */
GV_INLINE int gv_falls_at(const gv_rules *rules, int64_t ordinal) {
    return (gv_monotone_piece(rules, ordinal) % 2 == 0) == (rules->falls_first != 0);
}

/* A strip of consecutive inputs, all of them scored, with its totals; what comes before it in its run is in
   r->previous. above: of gv_count_errors */
static void gv_count_dense(gv_reducer *r, const gv_strip *s, const gv_error_totals *errors, const int64_t *above,
                           const gv_bit_totals *t, int64_t ordinal, size_t n) {
    const gv_rules *rules = &r->rules;
    const int width = rules->fmt.width;
    gv_row *row = &r->rows[gv_bucket(ordinal, width)];
    gv_point first = {ordinal, gv_ordinal(s->got_bits[0], width)};
    int crossing = r->has_previous && gv_violates(rules, r->previous, first);
    gv_note_worst_of_strip(r, row, s, errors->worst, ordinal, n);
    row->n += (uint32_t)n;
    row->correct += t->correct;
    row->faithful += (uint32_t)errors->faithful;
    row->error_sum += errors->error_sum;
    if (t->differences) row->bits_hash += gv_hash_strip(&r->weights, s, ordinal, n);
    gv_add_histogram(row, rules, s, above, n);
    if (t->max_rank > r->facts.max_rank) r->facts.max_rank = t->max_rank;
    int beyond = rules->stays_below_x && t->beyond;
    int zeros = t->lowest <= 0 && t->highest >= -1 && t->differences >> (width - 1) && t->zero_lost < n;
    int others = t->wrong_sign || t->rises || beyond || crossing || (zeros && !rules->either_zero);
    if (others || (t->zero_lost && !gv_note_lost_tail(r, row, t, ordinal, n)))
        gv_note_strip(r, row, s, gv_falls_at(rules, ordinal) ? 0 : -1, ordinal, n, beyond);
    gv_note_extremes(r, s, t, ordinal, width, n);
    r->previous = (gv_point){ordinal + (int64_t)n - 1, gv_ordinal(s->got_bits[n - 1], width)};
    r->has_previous = 1;
}

/* ... without them */
static void gv_add_dense(gv_reducer *r, const gv_strip *s, int64_t ordinal, size_t n) {
    const gv_rules *rules = &r->rules;
    int32_t rank[GV_STRIP + 1];
    gv_rank_strip(s, rank, rules->fmt.width, n);
    int64_t above[GV_COUNTED_EDGES] = {0};
    gv_count_errors(s, n, above);
    gv_error_totals errors = gv_total_errors(s, n);
    gv_bit_totals t =
        gv_total_bits(s, rank, gv_falls_at(rules, ordinal) ? 0 : -1, rules->either_zero != 0, rules->fmt.width, n);
    gv_count_dense(r, s, &errors, above, &t, ordinal, n);
}

#endif
