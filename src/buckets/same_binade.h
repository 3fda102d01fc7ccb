/* Strips of consecutive inputs whose values y lie in one binade, and all outputs too: E, `want` and what both add to the
   records, in one loop instead of those of strip_ulp_error.h and dense.h, and the same bits.

   There u(y) is one number, and outputs in units of it are integers g. With h = y/u(y) and n = rint(h), as in
   ulp_error.h, an output is correct where g = n, and faithful where |E| < 1, because y itself, being decided, is no
   number of the format; got - want is g - n floats. A loop that finds something undecided changes nothing that counts:
   the strip is then judged and counted as any other.

   Test   test_a_strided_run_is_counted_as_its_inputs_one_by_one in tests/buckets/test_reducer.py */
#ifndef GV_BUCKETS_SAME_BINADE_H
#define GV_BUCKETS_SAME_BINADE_H
#include "dense.h"

/* ---- outputs as integers ---- */

/* Bits of the least and the largest, and least and largest step from one output to the next, where all have one sign */
typedef struct {
    uint32_t least, most;
    int32_t step_least, step_most;
} gv_output_range;

GV_CLONES static gv_output_range gv_range_of_outputs(const uint32_t *bits, size_t n) {
    gv_output_range t = {bits[0], bits[0], 0, 0};
    for (size_t i = 1; i < n; i++) {
        uint32_t before = bits[i - 1], here = bits[i];
        int32_t step = (int32_t)(here - before);
        t.least = here < t.least ? here : t.least;
        t.most = here > t.most ? here : t.most;
        t.step_least = step < t.step_least ? step : t.step_least;
        t.step_most = step > t.step_most ? step : t.step_most;
    }
    return t;
}

GV_CLONES static uint32_t gv_count_beyond(const gv_strip *s, uint32_t mask, size_t n) {
    uint32_t beyond = 0;
    for (size_t i = 0; i < n; i++) beyond += (s->got_bits[i] & mask) > (s->x_bits[i] & mask);
    return beyond;
}

/* ---- errors ---- */

/* Of all outputs: what gv_total_errors finds, correct ones, and whether all are decided */
typedef struct {
    gv_error_totals errors;
    int64_t correct, decided, above[GV_COUNTED_EDGES];
    double unit; /* u(y) */
} gv_binade_totals;

/* scale: 1/u(y) with the sign of y; want_of_zero: what is added to an integer for its bits. |E| goes to s->error. */
GV_INLINE gv_binade_totals gv_same_binade_loop(gv_strip *s, double scale, uint32_t want_of_zero, double accuracy,
                                               int has_lo, size_t n) {
    const double size = fabs(scale);
    int64_t worst = 0, error_sum = 0, correct = 0;
    uint64_t open = 0; /* its sign bit */
    for (size_t i = 0; i < n; i++) {
        double h = s->hi[i] * scale, whole = (h + GV_SHIFTER) - GV_SHIFTER, f = h - whole, er = s->err[i] * size;
        double g = s->got[i] * scale, rounded = whole, error = (g - whole) - f;
        open |= gv_to_bits(accuracy - er);
        if (has_lo) {
            double l = s->lo[i] * scale, up = (f - 0.5) + l, down = (f + 0.5) + l;
            rounded = whole + (up > 0.0 ? 1.0 : 0.0) - (down < 0.0 ? 1.0 : 0.0);
            error -= l;
            open |= gv_to_bits(fabs(up) - er) | gv_to_bits(fabs(down) - er) | gv_to_bits(fabs(f + l) - er);
        } else {
            open |= gv_to_bits((0.5 - fabs(f)) - er) | gv_to_bits(fabs(f) - er);
        }
        error = gv_without_noise(error);
        int64_t absolute = (int64_t)(gv_to_bits(error) & (UINT64_MAX >> 1));
        worst = absolute > worst ? absolute : worst;
        error_sum += (int64_t)(gv_to_bits(error * GV_SUM_SCALE + GV_SHIFTER) - gv_to_bits(GV_SHIFTER));
        correct += GV_WIDE(g == rounded);
        s->want[i] = want_of_zero + (uint32_t)(int32_t)rounded;
        s->error[i] = gv_from_bits((uint64_t)absolute);
    }
    error_sum = scale < 0.0 ? -error_sum : error_sum;
    return (gv_binade_totals){{.error_sum = error_sum, .worst = worst}, correct, !(open >> 63), {0}, 1.0 / size};
}

GV_CLONES static gv_binade_totals gv_total_same_binade(gv_strip *s, double scale, uint32_t want_of_zero,
                                                       double accuracy, int has_lo, size_t n) {
    if (has_lo) return gv_same_binade_loop(s, scale, want_of_zero, accuracy, 1, n);
    return gv_same_binade_loop(s, scale, want_of_zero, accuracy, 0, n);
}

/* Judges an enclosed strip; 0, and nothing that counts, where it is not one of these, or something is undecided.
   values: all of them or, of consecutive inputs between which f is monotone, the ends */
static int gv_judge_same_binade(gv_strip *s, const gv_format *fmt, gv_value_range values, const gv_output_range *range,
                                int has_lo, size_t n, gv_binade_totals *t) {
    const int digits = fmt->precision - 1, negative = s->hi[0] < 0.0;
    const int64_t emin = fmt->emin + 1023;
    const uint32_t sign_bit = 1u << (fmt->width - 1), sign = negative ? sign_bit : 0;
    const uint32_t least = range->least ^ sign, most = range->most ^ sign; /* without it, where it is that of y */
    if ((least | most) & sign_bit || !least || !gv_has_one_binade(values, fmt)) return 0;
    int64_t exponent = gv_binade_of(fabs(s->hi[0]), negative ? -s->lo[0] : s->lo[0], s->err[0], emin).exponent;
    /* numbers of the binade, or all up to its end where it is the lowest */
    uint32_t steps = (uint32_t)(exponent - emin) << digits, first = exponent > emin ? steps + (1u << digits) : 0;
    if (least < first || most >= steps + (2u << digits)) return 0;
    double scale = gv_from_bits((uint64_t)(2046 + digits - exponent) << 52);
    *t = gv_total_same_binade(s, negative ? -scale : scale, steps | sign, gv_power_of_two(fmt->precision - GV_ACCURACY),
                              has_lo, n);
    return (int)t->decided;
}

/* ---- counting ---- */

/* The strip `s`, judged by gv_judge_same_binade. */
static void gv_add_same_binade(gv_reducer *r, gv_strip *s, const gv_binade_totals *judged, const gv_output_range *range,
                               int64_t ordinal, size_t n) {
    const gv_rules *rules = &r->rules;
    const int width = rules->fmt.width, negative = (int)(range->least >> (width - 1));
    const uint32_t mask = (1u << (width - 1)) - 1;
    const uint32_t nearest_x = s->x_bits[0] < s->x_bits[n - 1] ? s->x_bits[0] : s->x_bits[n - 1];
    int down = gv_falls_at(rules, ordinal) != negative; /* whether magnitudes are to fall */
    int64_t ends[2] = {gv_ordinal(range->least, width), gv_ordinal(range->most, width)};
    gv_bit_totals t = {.correct = (uint32_t)judged->correct};
    t.differences = t.correct != n;
    t.rises = down ? range->step_most > 1 : range->step_least < -1;
    /* the distance from got to n is |E| rounded, but for an |E| of 1/2, which is rounded from above */
    if (t.differences) t.max_rank = (uint32_t)fmax(1.0, rint(gv_from_bits((uint64_t)judged->errors.worst)));
    if (rules->stays_below_x && (range->most & mask) > (nearest_x & mask)) t.beyond = gv_count_beyond(s, mask, n);
    t.lowest = (int32_t)ends[negative];
    t.highest = (int32_t)ends[!negative];
    gv_count_dense(r, s, &judged->errors, judged->above, &t, ordinal, n);
}

/* Adds an enclosed strip that is dense and plain; 0, and nothing changed that counts, where it is not one of these. */
static int gv_add_if_same_binade(gv_reducer *r, gv_strip *s, int has_lo, int64_t ordinal, size_t n) {
    gv_binade_totals judged;
    gv_output_range range = gv_range_of_outputs(s->got_bits, n);
    if (!gv_judge_same_binade(s, &r->rules.fmt, gv_range_of_ends(s, n), &range, has_lo, n, &judged)) return 0;
    /* with lo, |E| = 1 may be rounded from above or below */
    if (has_lo && judged.errors.worst >= (int64_t)gv_to_bits(1.0)) return 0;
    if (judged.errors.worst > (int64_t)gv_to_bits(0.125)) gv_count_errors(s, n, judged.above);
    judged.errors.faithful = (int64_t)n - judged.above[4]; /* not above 1 */
    gv_add_same_binade(r, s, &judged, &range, ordinal, n);
    return 1;
}

/* The largest error of an enclosed strip that is plain, and its place, against the function that is approximated; 0 where
   it is not one of these. */
static int gv_note_if_same_binade(gv_reducer *r, gv_strip *s, int has_lo, size_t n) {
    gv_binade_totals judged;
    gv_output_range range = gv_range_of_outputs(s->got_bits, n);
    if (!gv_judge_same_binade(s, &r->rules.fmt, gv_range_of_values(s, n), &range, has_lo, n, &judged)) return 0;
    gv_facts *facts = &r->facts;
    double ulp = gv_from_bits((uint64_t)judged.errors.worst), distance = ulp * judged.unit;
    if (facts->approximation_ulp.present && ulp < facts->approximation_ulp.value &&
        distance < facts->approximation_abs.value)
        return 1;
    int64_t farthest = gv_ordinal(s->x_bits[gv_first_worst(s, judged.errors.worst, n)], r->rules.fmt.width);
    gv_note_farthest(&facts->approximation_ulp, ulp, farthest);
    gv_note_farthest(&facts->approximation_abs, distance, farthest);
    return 1;
}

#endif
