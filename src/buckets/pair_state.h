/* Pairs (x, second input) while they are counted (pairs.h), and outputs at one x beside those at the x before. */
#ifndef GV_BUCKETS_PAIR_STATE_H
#define GV_BUCKETS_PAIR_STATE_H
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

#endif
