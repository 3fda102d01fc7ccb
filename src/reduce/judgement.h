/* Blocks of answers in a format of 32 bits or less against values from values.h: judge.h, one operation after the
   other, without branches. What is not decided here (specials, ties, sides too close) goes to gv_judge_one. */
#ifndef GV_REDUCE_JUDGEMENT_H
#define GV_REDUCE_JUDGEMENT_H
#include "../core/core.h"
#include "values.h"

#define GV_STRIP 256 /* inputs judged at once: all arrays of a strip stay in the L1 cache */
#define GV_NOISE 0x1p-17 /* ulp: half the unit of error_sum; smaller errors count as 0 */
#define GV_SHIFTER 0x1.8p52

/* What is known of a strip of inputs and of the answers to them. */
typedef struct {
    double x[GV_STRIP], got[GV_STRIP], hi[GV_STRIP], lo[GV_STRIP], err[GV_STRIP], error[GV_STRIP], unit[GV_STRIP];
    uint64_t x_bits[GV_STRIP], got_bits[GV_STRIP], want[GV_STRIP], flags[GV_STRIP];
} gv_strip;

GV_INLINE uint64_t gv_bits_of(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

GV_INLINE double gv_double_of(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

GV_INLINE double gv_less_noise(double error) { return fabs(error) < GV_NOISE ? 0.0 : error; }

/* error, want, unit (u(y)) and flags of a strip */
GV_CLONES static void gv_judge_strip(gv_strip *s, const gv_format *fmt, size_t n) {
    const uint64_t sign_bit = UINT64_C(1) << 63;
    const int64_t emin = fmt->emin + 1023, digits = fmt->precision - 1;
    const uint64_t infinity = (uint64_t)(fmt->emax - fmt->emin + 2) << digits;
    const uint64_t mask = (UINT64_C(1) << (fmt->width - 1)) - 1;
    const int down_shift = 64 - fmt->width;
    for (size_t i = 0; i < n; i++) {
        double err = s->err[i];
        uint64_t bits = gv_bits_of(s->hi[i]), sign = bits & sign_bit, magnitude = bits ^ sign;
        double a = gv_double_of(magnitude), lo = gv_double_of(gv_bits_of(s->lo[i]) ^ sign);
        double power = gv_double_of(magnitude & UINT64_C(0x7ff0000000000000));
        double above = (a - power) + lo, below = (power - (a - power)) - lo;
        int64_t field = (int64_t)(magnitude >> 52);
        int known = ((fabs(above) >= err) | (field <= emin)) & ((below >= err) | (field < emin));
        field -= above < 0.0;
        int64_t top = field > emin ? field : emin;
        double scale = gv_double_of((uint64_t)(2046 + digits - top) << 52);
        double h = a * scale, whole = (h + GV_SHIFTER) - GV_SHIFTER;
        double f = h - whole, l = lo * scale, er = err * scale;
        double up = (f - 0.5) + l, down = (f + 0.5) + l, side = f + l;
        double rounded = whole + (up > 0.0 ? 1.0 : 0.0) - (down < 0.0 ? 1.0 : 0.0);
        uint64_t count = gv_bits_of(rounded + 0x1p52) & ((UINT64_C(1) << 52) - 1);
        s->want[i] = (count + ((uint64_t)(top - emin) << digits)) | sign >> down_shift;
        double g = gv_double_of(gv_bits_of(s->got[i]) ^ sign) * scale;
        double rest = f != 0.0 ? f : l, below_y = whole - (rest < 0.0 ? 1.0 : 0.0);
        double error = ((g - whole) - f) - l;
        s->error[i] = gv_less_noise(gv_double_of(gv_bits_of(error) ^ sign));
        s->unit[i] = gv_double_of((uint64_t)(top - digits) << 52);
        int plain = ((s->got_bits[i] & mask) < infinity) & ((s->x_bits[i] & mask) < infinity) & (s->x[i] != 0.0);
        int decided = (fabs(up) >= er) & (fabs(down) >= er) & (fabs(side) >= er) & known & plain;
        int faithful = (g == below_y) | ((g == below_y + 1.0) & (rest != 0.0));
        s->flags[i] = (uint64_t)(decided * GV_DECIDED | faithful * GV_FAITHFUL);
    }
}

/* What is asked where even double-double does not decide: fills want, error, faithful. */
typedef void (*gv_oracle)(void *owner, int approximated, uint64_t x_bits, uint64_t got_bits, uint64_t *want,
                          double *error, int *faithful);

/* One function to judge against. */
typedef struct {
    gv_values values; /* NULL where there is none: then nothing is judged here */
    gv_loop exact;
    uint64_t limits[6];
    double at_zero;
} gv_truth;

/* One answer that the strip leaves open, in the strip's own values, in double-double, or by the oracle. */
static void gv_judge_left(gv_strip *s, size_t i, const gv_truth *truth, const gv_format *fmt, gv_oracle oracle,
                          void *owner, int approximated) {
    gv_value v = {s->hi[i], s->lo[i], s->err[i], 0};
    unsigned char flags = 0;
    if (s->err[i] <= DBL_MAX || !(fabs(s->x[i]) <= DBL_MAX))
        flags = gv_judge_one(v, s->x[i], s->got_bits[i], s->got[i], fmt, truth->limits, truth->at_zero, &s->want[i],
                             &s->error[i]);
    if (!(flags & GV_DECIDED)) {
        truth->exact(&s->x[i], &v, 1);
        flags = gv_judge_one(v, s->x[i], s->got_bits[i], s->got[i], fmt, truth->limits, truth->at_zero, &s->want[i],
                             &s->error[i]);
        s->unit[i] = gv_power_of_two(v.hi == 0.0 ? fmt->emin - fmt->precision + 1 : gv_in_units(v, fmt).ue);
    }
    if (!(flags & GV_DECIDED)) {
        int faithful = 0;
        oracle(owner, approximated, s->x_bits[i], s->got_bits[i], &s->want[i], &s->error[i], &faithful);
        flags = (unsigned char)(faithful ? GV_FAITHFUL : 0);
    }
    s->error[i] = gv_less_noise(s->error[i]);
    s->flags[i] = (flags & GV_FAITHFUL) | GV_DECIDED;
}

/* Whether every error is a number: x and answer are finite. */
static int gv_judge_all(gv_strip *s, const gv_truth *truth, const gv_format *fmt, gv_oracle oracle, void *owner,
                        int approximated, size_t n) {
    uint64_t decided = GV_DECIDED;
    int scored = 1;
    truth->values(s->x, s->hi, s->lo, s->err, n);
    gv_judge_strip(s, fmt, n);
    for (size_t i = 0; i < n; i++) decided &= s->flags[i];
    if (decided) return 1;
    for (size_t i = 0; i < n; i++)
        if (!(s->flags[i] & GV_DECIDED)) {
            gv_judge_left(s, i, truth, fmt, oracle, owner, approximated);
            scored &= fabs(s->error[i]) <= DBL_MAX;
        }
    return scored;
}

#endif
