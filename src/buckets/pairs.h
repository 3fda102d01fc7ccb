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
   Rows, regions and facts are those of count.h and dense.h; a result in the hash has the weight of its second input
   too. Second inputs that are 0 or no finite number are judged by the caller (gv_add_judged_second).

   Test   tests/buckets/test_pairs.py, against the judge of one second input and the reducer of one */
#ifndef GV_BUCKETS_PAIRS_H
#define GV_BUCKETS_PAIRS_H
#include "outputs.h"

#define GV_INPUTS 65536 /* of a format of 16 bits */
#define GV_OUTPUTS_APART (GV_INPUTS + 96) /* outputs of two second inputs at one x are not of one set of the cache */
#define GV_PAIR_TILE 32 /* x whose outputs are brought together at once: a line of the cache */
#define GV_NO_ORDINAL INT32_MIN

/* f(x) = h + l within err; err = 0: exactly; |f(x)| < 2^-600 only as its sign, or 0 */
typedef struct { double h, l, err; } gv_factor;

/* A second input, with what the function of x is that it makes (records.h, gv_rules). */
typedef struct {
    int64_t ordinal, turns[GV_MOST_TURNS], falls_first, tail_end, stays_below_x;
    uint32_t bits;
    size_t row;
} gv_second;

typedef struct { int32_t x, lane; } gv_turned; /* the first x after a turning point, of the second input of a lane */

typedef struct {
    gv_reducer *r;
    int is_product;
    const gv_factor *factors; /* by ordinal of x */
    double at_infinity[2]; /* limits of f at -inf and inf */
    double at_zero[2][2]; /* at 0 and at -0: f, and another f that is as right, the same where there is none */
    uint16_t *got; /* GV_STRIP rows of GV_OUTPUTS_APART outputs */
    size_t count;
    gv_second waiting[GV_STRIP];
    /* of those that wait, ascending */
    double second[GV_STRIP];
    int32_t down[GV_STRIP], before[2][GV_STRIP]; /* ordinals of outputs at the x before: before[here] */
    int here;
    size_t turn_count, next_turn;
    gv_turned turned[GV_MOST_TURNS * GV_STRIP]; /* ascending */
    uint32_t weight[GV_STRIP], above_x[GV_STRIP]; /* above_x: all bits where |got| may be above |x| */
    int32_t lane[GV_STRIP]; /* of the strip being counted: which of those that wait */
    gv_worst worst;
    uint32_t worst_second;
} gv_pairs;

/* ---- outputs, and the outputs at the x before ---- */

/* the values of outputs; of infinities and NaN some finite number */
GV_CLONES static void gv_decode_outputs(gv_strip *s, const gv_format *fmt, size_t n) {
    const int digits = fmt->precision - 1;
    const double least = gv_power_of_two(fmt->emin - digits);
    for (size_t i = 0; i < n; i++) {
        uint64_t magnitude = s->got_bits[i] & 0x7fff, sign = (uint64_t)(s->got_bits[i] >> 15) << 63;
        double small = (double)(int32_t)magnitude * least;
        uint64_t normal = (magnitude << (52 - digits)) + ((uint64_t)(1023 - fmt->emax) << 52);
        s->got[i] = gv_from_bits((magnitude >> digits ? normal : gv_to_bits(small)) | sign);
    }
}

/* whether an output moves against the function from the one before, by more than one float; before: its ordinal; down:
   0 where the function falls, else -1 */
GV_INLINE int32_t gv_is_rise(int32_t ordinal, int32_t before, int32_t down, int32_t infinity) {
    int32_t rank = ordinal + (ordinal < 0), rank_before = before + (before < 0);
    int32_t rises = ((rank ^ down) - down) - 1 > (rank_before ^ down) - down;
    return rises & (rank <= infinity) & (rank >= -infinity) & (before != GV_NO_ORDINAL);
}

/* How many do, of those at an x; what comes after them is compared with `here`. */
GV_CLONES static int32_t gv_count_rises(const uint32_t *got, const int32_t *before, int32_t *here, const int32_t *down,
                                        int32_t infinity, size_t n) {
    int32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t magnitude = (int32_t)(got[i] & 0x7fff), ordinal = magnitude ^ -(int32_t)(got[i] >> 15);
        count += gv_is_rise(ordinal, before[i], down[i], infinity);
        here[i] = magnitude <= infinity ? ordinal : GV_NO_ORDINAL;
    }
    return count;
}

/* whether an input may be the one nearest to zero; with less bits of got it may be so again */
GV_INLINE int gv_may_be_nearest(const gv_nearest *nearest, int64_t ordinal) {
    return !nearest->present || gv_size(ordinal) <= gv_size(nearest->ordinal);
}

static void gv_add_rises(gv_pairs *p, gv_row *row, int64_t ordinal, size_t n) {
    gv_reducer *r = p->r;
    const gv_strip *s = &r->strip;
    const int32_t infinity = (int32_t)r->rules.infinity, *before = p->before[p->here];
    if (r->rules.turn_count < 0 || !gv_is_number(&r->rules, ordinal)) return;
    for (; p->next_turn < p->turn_count && p->turned[p->next_turn].x <= ordinal; p->next_turn++) {
        int32_t lane = p->turned[p->next_turn].lane;
        p->down[lane] = ~p->down[lane];
        p->before[p->here][lane] = GV_NO_ORDINAL;
    }
    int32_t count = gv_count_rises(s->got_bits, before, p->before[!p->here], p->down, infinity, n);
    p->here = !p->here;
    if (!count) return;
    row->nearest[GV_RISES] = (uint64_t)gv_size(ordinal);
    row->count[GV_RISES] += (uint32_t)count;
    for (size_t i = 0; gv_may_be_nearest(&r->facts.rises, ordinal) && i < n; i++)
        if (gv_is_rise((int32_t)gv_ordinal(s->got_bits[i], 16), before[i], p->down[i], infinity))
            gv_note_nearest(&r->facts.rises, ordinal, s->got_bits[i], ordinal - 1, gv_bits_at(before[i], 16));
}

/* ---- enclosures ---- */

/* f(x) = 0, x not 0: the product is +0, as the leading term of the definition is */
GV_CLONES static void gv_enclose_products(gv_strip *s, const double *g, gv_factor f, size_t n) {
    for (size_t i = 0; i < n; i++) {
        s->hi[i] = f.h == 0.0 ? 0.0 : f.h * g[i];
        s->lo[i] = f.l * g[i];
        s->err[i] = f.err * fabs(g[i]);
    }
}

GV_CLONES static void gv_add_exactly(double x, const double *b, double *sum, double *rest, size_t n) {
    for (size_t i = 0; i < n; i++) {
        gv_dd t = gv_two_sum(x, b[i]);
        sum[i] = t.hi;
        rest[i] = t.lo;
    }
}

/* from enclosures of f(t) to those of f(t + rest) */
GV_CLONES static void gv_add_rests(gv_strip *s, const double *rest, int activation, double near_to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double t = s->x[i], slope = fabs(t) < GV_TINY ? 0.5 : t >= near_to ? 1.0 : 0.0;
        double more = activation ? slope * rest[i] : 0.0, lo = s->lo[i] + more;
        double err = s->err[i] == GV_TAIL ? GV_TAIL : 4.0 * s->err[i];
        s->lo[i] = lo;
        s->err[i] = err + (more != 0.0 ? fabs(lo) * 0x1p-52 : 0.0);
    }
}

/* where the first t >= end is, t ascending */
GV_INLINE size_t gv_first_from(const double *t, double end, size_t n) {
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (t[middle] < end) low = middle + 1;
        else n = middle;
    }
    return low;
}

/* Enclosures of f at x + b[i], which ascend.
   Bound     The enclosures of f are proved for t of 24 bits, whose square is exact. Here t has up to 53: its square is
             off by 2^-53, and f moves by what moving t by 2^-54 of itself does; so does what `rest`, at most 2^-53 of t,
             does beyond the leading term. Of r = |f(-|t|)|, which they enclose within 2^-44 or what is more, that is
             |t r'/r| 2^-52 <= 2^-44 for |t r'/r| <= 256: it is at most 226 up to 15, 190 for gelu_tanh up to 12 */
static void gv_enclose_sums(gv_strip *s, const gv_enclosed_function *f, double x, const double *b, size_t n) {
    double rest[GV_STRIP];
    const double ends[4] = {f->near_from, -GV_TINY, GV_TINY, f->near_to};
    gv_add_exactly(x, b, s->x, rest, n);
    for (size_t k = 0, start = 0; k <= 4; k++) { /* each kind of input by itself */
        size_t end = k < 4 ? start + gv_first_from(s->x + start, ends[k], n - start) : n;
        if (end > start && !gv_enclose_strip(f, s->x + start, s->hi + start, s->lo + start, s->err + start, end - start))
            memset(s->lo + start, 0, (end - start) * sizeof *s->lo);
        start = end;
    }
    gv_add_rests(s, rest, f->series.activation, f->near_to, n);
}

/* ---- judging ---- */

typedef struct { int64_t decided, scored; } gv_all_of;

/* want, error, faithful and decided of a strip; whether all are decided, and whether all errors are numbers */
GV_CLONES static gv_all_of gv_judge_pairs(gv_strip *s, const gv_format *fmt, uint32_t infinity, size_t n) {
    const double accuracy = gv_power_of_two(fmt->precision - GV_ACCURACY);
    const uint64_t infinite = UINT64_C(0x7ff) << 52;
    int64_t decided = 1, scored = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t sign = gv_to_bits(s->hi[i]) & UINT64_C(1) << 63;
        double a = gv_from_bits(gv_to_bits(s->hi[i]) ^ sign), lo = gv_from_bits(gv_to_bits(s->lo[i]) ^ sign);
        gv_ulp_error e =
            gv_ulp_error_of_any(a, lo, s->err[i], s->got[i], (int64_t)s->got_bits[i], sign, fmt, accuracy, infinity);
        s->want[i] = e.want;
        s->error[i] = e.error;
        s->faithful[i] = e.faithful;
        s->decided[i] = e.decided;
        decided &= e.decided;
        scored &= GV_WIDE(gv_to_bits(e.error) != infinite);
    }
    return (gv_all_of){decided, scored};
}

/* An output that the vectors leave open, or the outputs at an x that is a zero or infinite: against y = v. Whether that
   decides it. */
static int gv_judge_pair(const gv_pairs *p, size_t i, gv_value v) {
    gv_reducer *r = p->r;
    gv_strip *s = &r->strip;
    uint64_t limits[6] = {r->rules.truth.limits[0], 0, 0, 0, 0, (uint64_t)r->rules.infinity}, want = 0;
    unsigned char flags = gv_judge_one(v, 1.0, s->got_bits[i], gv_decode(s->got_bits[i], &r->rules.fmt), &r->rules.fmt,
                                       limits, 0.0, &want, &s->error[i]);
    s->want[i] = (uint32_t)want;
    s->faithful[i] = (flags & GV_FAITHFUL) != 0;
    s->error[i] = gv_without_noise(s->error[i]);
    return (flags & GV_DECIDED) != 0;
}

/* f(t + rest) from f(t), t = s->x[i], in double-double; 0 where that is not known so well.
   Bound     |f'| < 1.13 and |f''| < 0.8 everywhere. From -16 to -2: |t f'/f| < 2^9 (and |t f''| < 2^9 of the sum of the
             terms of f'), and rest is at most 2^-53 of t. From near_to on: f(t) = t - r, f' = 1 - r', where r is such a
             tail, from 2 to 16 */
static int gv_value_at_sum(const gv_truth *truth, double t, double rest, gv_value *v) {
    truth->exact(&t, v, 1);
    if (rest == 0.0) return 1;
    if (t < truth->function->near_from) {
        if (t < -16.0) return 0;
        v->err += fabs(v->hi) * 0x1p-42;
    } else if (t < truth->function->near_to) {
        v->err += ldexp(1.25 * fabs(rest), -v->k);
    } else {
        double leading = truth->function->series.activation ? t : 1.0, tail = (v->hi - leading) + v->lo;
        if (t > 16.0) return 0;
        v->lo += truth->function->series.activation ? rest : 0.0;
        v->err += fabs(tail) * 0x1p-42 + fabs(v->lo) * 0x1p-52;
    }
    return 1;
}

static void gv_decide_pair(const gv_pairs *p, size_t i, uint64_t x_bits) {
    gv_reducer *r = p->r;
    gv_strip *s = &r->strip;
    gv_value v = {s->hi[i], s->lo[i], s->err[i], 0};
    double unit = gv_power_of_two(r->rules.fmt.emin - r->rules.fmt.precision + 1);
    unit = fmax(unit, fabs(v.hi) * gv_power_of_two(-r->rules.fmt.precision));
    if (v.err <= unit * gv_power_of_two(r->rules.fmt.precision - GV_ACCURACY) && gv_judge_pair(p, i, v)) return;
    if (!p->is_product) {
        double rest = gv_two_sum(gv_decode(x_bits, &r->rules.fmt), p->second[i]).lo;
        if (gv_value_at_sum(&r->rules.truth, s->x[i], rest, &v) && gv_judge_pair(p, i, v)) return;
    }
    uint64_t want = 0;
    int faithful = 0;
    r->oracle(r->owner, (int)p->waiting[i].bits, x_bits, s->got_bits[i], &want, &s->error[i], &faithful);
    s->want[i] = (uint32_t)want;
    s->faithful[i] = faithful != 0;
    s->error[i] = gv_without_noise(s->error[i]);
}

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
GV_CLONES static void gv_find_extremes(const gv_strip *s, uint32_t infinity, int32_t *lowest, int32_t *highest, size_t n) {
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
        row->bits_hash += gv_hash_block(s->got_bits, s->want, weight, n) * gv_weight_in_block(x_bits) *
                          gv_weight_of_block(x_bits);
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
            gv_judge_pair(p, i, is_nan ? gv_undefined() : fabs(limit) <= DBL_MAX ? gv_exact(limit * g)
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
    const uint32_t x_bits = (uint32_t)gv_bits_at(ordinal, 16), size = x_bits & 0x7fff, infinity = (uint32_t)r->rules.infinity;
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
