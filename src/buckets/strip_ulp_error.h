/* E = (got - y)/u(y) of strips of outputs: ulp_error.h by vectors, from the enclosures of strip_enclosure.h; what that
   leaves open, one by one, by gv_judge_one of ../truth/judge.h: from the same enclosure, then from a value in
   double-double, at last by the oracle.

   Bound   E within 2^(p - 36) ulp + 2^-52 |E| in each of these ways, errors below 2^-17 ulp as 0; `want` and `faithful`
           exact. Proved: the enclosures are, and gv_is_accurate and `decided` are the conditions
   Tests   test_outputs_are_judged_as_the_reference_judges, and for strips of every kind against single outputs
           test_a_strided_run_is_counted_as_its_inputs_one_by_one, in tests/buckets/test_reducer.py */
#ifndef GV_BUCKETS_STRIP_ULP_ERROR_H
#define GV_BUCKETS_STRIP_ULP_ERROR_H
#include "strip_enclosure.h"
#include "ulp_error.h"

/* A strip of inputs, the outputs there, and what is known of both. */
typedef struct {
    double x[GV_STRIP], got[GV_STRIP], hi[GV_STRIP], lo[GV_STRIP], err[GV_STRIP], error[GV_STRIP], unit[GV_STRIP];
    int64_t faithful[GV_STRIP], decided[GV_STRIP];
    uint32_t x_bits[GV_STRIP], got_bits[GV_STRIP], want[GV_STRIP];
} gv_strip;

/* Of all of a strip: x and got are finite and x is not 0; inputs are consecutive; f is monotone between them. */
typedef struct { int plain, consecutive, monotone; } gv_strip_traits;

/* ---- by vectors ---- */

/* error, want, unit (u(y)), faithful, decided of a strip; whether all are decided. same_binade: y has one binade and
   one sign in the strip, as at its first input; has_lo: some lo is not 0 */
GV_INLINE int64_t gv_ulp_error_loop(gv_strip *s, const gv_format *fmt, int same_binade, int has_lo, size_t n) {
    const uint64_t sign_bit = UINT64_C(1) << 63;
    const int64_t emin = fmt->emin + 1023, digits = fmt->precision - 1;
    const double accuracy = gv_power_of_two(fmt->precision - GV_ACCURACY);
    const uint64_t first_sign = gv_to_bits(s->hi[0]) & sign_bit;
    const double first_lo = has_lo ? gv_from_bits(gv_to_bits(s->lo[0]) ^ first_sign) : 0.0;
    const int64_t first_exponent = gv_binade_of(fabs(s->hi[0]), first_lo, s->err[0], emin).exponent;
    int64_t all = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t sign = same_binade ? first_sign : gv_to_bits(s->hi[i]) & sign_bit;
        double a = gv_from_bits(gv_to_bits(s->hi[i]) ^ sign);
        double lo = has_lo ? gv_from_bits(gv_to_bits(s->lo[i]) ^ sign) : 0.0;
        gv_binade binade = {first_exponent, 1};
        if (!same_binade) binade = gv_binade_of(a, lo, s->err[i], emin);
        gv_ulp_error e = gv_ulp_error_of(a, lo, s->err[i], s->got[i], sign, binade, fmt, accuracy, has_lo);
        s->want[i] = e.want;
        s->error[i] = e.error;
        s->faithful[i] = e.faithful;
        s->decided[i] = e.decided;
        if (!same_binade) s->unit[i] = e.unit;
        all &= e.decided;
    }
    if (same_binade)
        for (size_t i = 0; i < n; i++) s->unit[i] = gv_from_bits((uint64_t)(first_exponent - digits) << 52);
    return all;
}

GV_CLONES static int64_t gv_ulp_errors(gv_strip *s, const gv_format *fmt, int same_binade, int has_lo, size_t n) {
    if (same_binade && has_lo) return gv_ulp_error_loop(s, fmt, 1, 1, n);
    if (same_binade) return gv_ulp_error_loop(s, fmt, 1, 0, n);
    return gv_ulp_error_loop(s, fmt, 0, 1, n);
}

/* Of values y of a strip: the least and the largest |hi|, and what y may be off it; whether all have one sign. */
typedef struct {
    double least, most, margin;
    int same_sign;
} gv_value_range;

/* of consecutive inputs between which f is monotone */
GV_INLINE gv_value_range gv_range_of_ends(const gv_strip *s, size_t n) {
    double first = fabs(s->hi[0]), last = fabs(s->hi[n - 1]);
    double margin = 8.0 * (s->err[0] + s->err[n - 1] + fabs(s->lo[0]) + fabs(s->lo[n - 1]));
    gv_value_range range = {fmin(first, last), fmax(first, last), margin, (s->hi[0] < 0.0) == (s->hi[n - 1] < 0.0)};
    return range;
}

/* of any inputs */
GV_CLONES static gv_value_range gv_range_of_values(const gv_strip *s, size_t n) {
    const int64_t magnitude = INT64_MAX;
    int64_t least = INT64_MAX, most = 0, err = 0, lo = 0;
    uint64_t some = 0, all = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = gv_to_bits(s->hi[i]);
        int64_t y = (int64_t)bits & magnitude, e = (int64_t)gv_to_bits(s->err[i]);
        int64_t l = (int64_t)gv_to_bits(s->lo[i]) & magnitude;
        some |= bits;
        all &= bits;
        least = y < least ? y : least;
        most = y > most ? y : most;
        err = e > err ? e : err;
        lo = l > lo ? l : lo;
    }
    gv_value_range range = {gv_from_bits((uint64_t)least), gv_from_bits((uint64_t)most),
                            8.0 * (gv_from_bits((uint64_t)err) + gv_from_bits((uint64_t)lo)), !((some ^ all) >> 63)};
    return range;
}

/* Whether these values have one sign and one u(y), and none is near the ends of its binade. */
GV_INLINE int gv_has_one_binade(gv_value_range v, const gv_format *fmt) {
    if (!v.same_sign || !(v.margin < v.least) || !(v.most <= DBL_MAX)) return 0;
    int exponent = gv_exponent(v.least - v.margin), last_exponent = gv_exponent(v.most + v.margin);
    return exponent == last_exponent || last_exponent <= fmt->emin; /* below emin, u(y) is that of emin */
}

/* ---- one by one ---- */

/* whether an error computed from the strip's own enclosure is accurate enough */
GV_INLINE int gv_is_accurate(const gv_strip *s, size_t i, const gv_format *fmt) {
    return s->err[i] * (1.0 / s->unit[i]) <= gv_power_of_two(fmt->precision - GV_ACCURACY);
}

/* One output that the vectors leave open. */
static void gv_judge_undecided(gv_strip *s, size_t i, const gv_truth *truth, const gv_format *fmt, gv_oracle oracle,
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
    s->error[i] = gv_without_noise(s->error[i]);
    s->want[i] = (uint32_t)want;
    s->faithful[i] = (flags & GV_FAITHFUL) != 0;
}

/* Encloses a strip; whether some lo is not 0. */
static int gv_enclose_inputs(gv_strip *s, const gv_truth *truth, const gv_format *fmt, gv_strip_traits traits,
                             size_t n) {
    if (traits.consecutive && traits.plain && fmt->width == 32 &&
        gv_enclose_by_parabola(truth->function, s->x_bits, s->hi, s->lo, s->err, n))
        return 0;
    return gv_enclose_strip(truth->function, s->x, s->hi, s->lo, s->err, n);
}

/* Judges an enclosed strip; whether every error is a number: x and got are finite. */
static int gv_judge_strip(gv_strip *s, const gv_truth *truth, const gv_format *fmt, gv_oracle oracle, void *owner,
                          int approximated, gv_strip_traits traits, int has_lo, size_t n) {
    int scored = 1;
    int one_binade = traits.monotone && traits.plain && gv_has_one_binade(gv_range_of_ends(s, n), fmt);
    int64_t all = gv_ulp_errors(s, fmt, one_binade, has_lo, n);
    if (all && traits.plain) return 1;
    const uint32_t mask = (uint32_t)((UINT64_C(1) << (fmt->width - 1)) - 1);
    const uint32_t infinity = (uint32_t)truth->limits[5];
    for (size_t i = 0; i < n; i++) {
        uint32_t x = s->x_bits[i] & mask;
        if (s->decided[i] && x && x < infinity && (s->got_bits[i] & mask) < infinity) continue;
        gv_judge_undecided(s, i, truth, fmt, oracle, owner, approximated);
        scored &= fabs(s->error[i]) <= DBL_MAX;
    }
    return scored;
}

#endif
