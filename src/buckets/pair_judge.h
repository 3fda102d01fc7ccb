/* g f(x) and f(x + b) enclosed, and outputs judged against them: a strip of second inputs at one x (pairs.h). */
#ifndef GV_BUCKETS_PAIR_JUDGE_H
#define GV_BUCKETS_PAIR_JUDGE_H
#include "pair_state.h"

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
        double err = s->err[i] == GV_TAIL ? GV_TAIL : 2.0 * s->err[i];
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
   Bound     Those of f(t) hold for every double t: the certificates of enclosure.h count the rounding of t^2 too. What
             `rest`, at most 2^-53 of t, does beyond the leading term is less than their err once more: near 0, |f'| <
             1.13 and err > 2^-44 |t| (|f''| < 0.8 and 2^-45); else they know r = |f(-|t|)| within 2^-44 of itself or of
             the terms that it is the difference of, and |t r'/r| < 2^9 (f'' likewise), for |t| up to the tail */
static void gv_enclose_sums(gv_strip *s, const gv_enclosed_function *f, double x, const double *b, size_t n) {
    double rest[GV_STRIP];
    const double ends[4] = {f->near_from, -GV_TINY, GV_TINY, f->near_to};
    gv_add_exactly(x, b, s->x, rest, n);
    for (size_t k = 0, start = 0; k <= 4; k++) { /* each kind of input by itself */
        size_t end = k < 4 ? start + gv_first_from(s->x + start, ends[k], n - start) : n;
        if (end > start &&
            !gv_enclose_strip(f, s->x + start, s->hi + start, s->lo + start, s->err + start, end - start))
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

#endif
