/* Blocks of answers in a format of 32 bits or less against values from values.h: judge.h, one operation after the
   other, without branches. What is not decided here (specials, ties, sides too close) goes to gv_judge_one. */
#ifndef GV_REDUCE_JUDGEMENT_H
#define GV_REDUCE_JUDGEMENT_H
#include "../truth/core.h"
#include "along.h"
#include "judged.h"

/* What is known of a strip of inputs and of the answers to them. */
typedef struct {
    double x[GV_STRIP], got[GV_STRIP], hi[GV_STRIP], lo[GV_STRIP], err[GV_STRIP], error[GV_STRIP], unit[GV_STRIP];
    int64_t faithful[GV_STRIP], decided[GV_STRIP];
    uint32_t x_bits[GV_STRIP], got_bits[GV_STRIP], want[GV_STRIP];
} gv_strip;

/* error, want, unit (u(y)), faithful, decided of a strip; returns whether all are decided.
   level: the same binade and sign everywhere, as for the first value; has_lo: some lo is not 0 */
GV_INLINE int64_t gv_judge_loop(gv_strip *s, const gv_format *fmt, int level, int has_lo, size_t n) {
    const uint64_t sign_bit = UINT64_C(1) << 63;
    const int64_t emin = fmt->emin + 1023, digits = fmt->precision - 1;
    const double accuracy = gv_power_of_two(fmt->precision - GV_ACCURACY);
    const uint64_t first_sign = gv_to_bits(s->hi[0]) & sign_bit;
    const double first_lo = has_lo ? gv_from_bits(gv_to_bits(s->lo[0]) ^ first_sign) : 0.0;
    const int64_t first_top = gv_binade_of(fabs(s->hi[0]), first_lo, s->err[0], emin).top;
    int64_t all = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t sign = level ? first_sign : gv_to_bits(s->hi[i]) & sign_bit;
        double a = gv_from_bits(gv_to_bits(s->hi[i]) ^ sign);
        double lo = has_lo ? gv_from_bits(gv_to_bits(s->lo[i]) ^ sign) : 0.0;
        gv_binade binade = {first_top, 1};
        if (!level) binade = gv_binade_of(a, lo, s->err[i], emin);
        gv_judged judged = gv_judge_number(a, lo, s->err[i], s->got[i], sign, binade, fmt, accuracy, has_lo);
        s->want[i] = judged.want;
        s->error[i] = judged.error;
        s->faithful[i] = judged.faithful;
        s->decided[i] = judged.decided;
        if (!level) s->unit[i] = judged.unit;
        all &= judged.decided;
    }
    if (level)
        for (size_t i = 0; i < n; i++) s->unit[i] = gv_from_bits((uint64_t)(first_top - digits) << 52);
    return all;
}

GV_CLONES static int64_t gv_judge_strip(gv_strip *s, const gv_format *fmt, int level, int has_lo, size_t n) {
    if (level && has_lo) return gv_judge_loop(s, fmt, 1, 1, n);
    if (level) return gv_judge_loop(s, fmt, 1, 0, n);
    return gv_judge_loop(s, fmt, 0, 1, n);
}

/* Whether consecutive inputs, between which f is monotone, have values of one sign in one binade, and not near its
   ends: then so have all between the first and the last. */
GV_INLINE int gv_is_level(const gv_strip *s, const gv_format *fmt, size_t n) {
    double first = fabs(s->hi[0]), last = fabs(s->hi[n - 1]);
    double least = first < last ? first : last, most = first < last ? last : first;
    double margin = 8.0 * (s->err[0] + s->err[n - 1] + fabs(s->lo[0]) + fabs(s->lo[n - 1]));
    int same_sign = (s->hi[0] < 0.0) == (s->hi[n - 1] < 0.0);
    if (!same_sign || !(margin < least) || !(most <= DBL_MAX)) return 0;
    int exponent = gv_exponent(least - margin);
    return exponent >= fmt->emin && exponent == gv_exponent(most + margin);
}

/* whether an error computed from the strip's own value is accurate enough */
GV_INLINE int gv_is_accurate(const gv_strip *s, size_t i, const gv_format *fmt) {
    return s->err[i] * (1.0 / s->unit[i]) <= gv_power_of_two(fmt->precision - GV_ACCURACY);
}

/* One answer that the strip leaves open, in the strip's own values, in double-double, or by the oracle. */
static void gv_judge_left(gv_strip *s, size_t i, const gv_truth *truth, const gv_format *fmt, gv_oracle oracle,
                          void *owner, int approximated) {
    gv_value v = {s->hi[i], s->lo[i], s->err[i], 0};
    uint64_t want = 0;
    unsigned char flags = 0;
    if (gv_is_accurate(s, i, fmt) || !(fabs(s->x[i]) <= DBL_MAX))
        flags = gv_judge_one(v, s->x[i], s->got_bits[i], s->got[i], fmt, truth->limits, truth->at_zero, &want,
                             &s->error[i]);
    if (!(flags & GV_DECIDED)) {
        truth->exact(&s->x[i], &v, 1);
        flags = gv_judge_one(v, s->x[i], s->got_bits[i], s->got[i], fmt, truth->limits, truth->at_zero, &want,
                             &s->error[i]);
        s->unit[i] = gv_power_of_two(v.hi == 0.0 ? fmt->emin - fmt->precision + 1 : gv_in_units(v, fmt).ue);
    }
    if (!(flags & GV_DECIDED)) {
        int faithful = 0;
        oracle(owner, approximated, s->x_bits[i], s->got_bits[i], &want, &s->error[i], &faithful);
        flags = (unsigned char)(faithful ? GV_FAITHFUL : 0);
    }
    s->error[i] = gv_less_noise(s->error[i]);
    s->want[i] = (uint32_t)want;
    s->faithful[i] = (flags & GV_FAITHFUL) != 0;
}

/* Judges a strip; whether every error is a number: x and answer are finite.
   plain: no input and no answer is NaN or infinite, no input is 0; consecutive: so are the inputs; monotone: and f is */
static int gv_judge_all(gv_strip *s, const gv_truth *truth, const gv_format *fmt, gv_oracle oracle, void *owner,
                        int approximated, int plain, int consecutive, int monotone, size_t n) {
    int has_lo = 0, scored = 1;
    if (!(consecutive && plain && fmt->width == 32 && gv_by_parabola(truth->values, s->x_bits, s->hi, s->lo, s->err, n)))
        has_lo = truth->values(s->x, s->hi, s->lo, s->err, n);
    int64_t all = gv_judge_strip(s, fmt, monotone && plain && gv_is_level(s, fmt, n), has_lo, n);
    if (all && plain) return 1;
    const uint32_t mask = (uint32_t)((UINT64_C(1) << (fmt->width - 1)) - 1);
    const uint32_t infinity = (uint32_t)truth->limits[5];
    for (size_t i = 0; i < n; i++) {
        uint32_t x = s->x_bits[i] & mask;
        if (s->decided[i] && x && x < infinity && (s->got_bits[i] & mask) < infinity) continue;
        gv_judge_left(s, i, truth, fmt, oracle, owner, approximated);
        scored &= fabs(s->error[i]) <= DBL_MAX;
    }
    return scored;
}

#endif
