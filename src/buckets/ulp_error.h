/* E = (got - y)/u(y) of one output in a format of 32 bits or less, from an enclosure of y (enclosure.h, parabola.h).

   The definition of E, of the rounded result and of "faithful" is ../truth/judge.h, and what is decided here is decided
   as there: the same `want` and `faithful`. This computes them anew for two reasons, speed and one arithmetic for all
   instruction sets: no branches, integers and doubles of 64 bits in step, exponents as fields of doubles. What differs:
     numbers   x and got finite, x not 0; all others are left to gv_judge_one
     E         is known within err/u(y) + 2^-52 |E|, and not used unless err/u(y) <= 2^(p - 36); below 2^-17 ulp it is 0
     open      a y that the enclosure does not place in its binade, or on one side of a number of the format or of the
               middle of two, is not decided: double-double is asked, then the oracle
   Test: test_outputs_are_judged_as_the_reference_judges in tests/buckets/test_reducer.py, an input of each bucket. */
#ifndef GV_BUCKETS_ULP_ERROR_H
#define GV_BUCKETS_ULP_ERROR_H
#include "../truth/judge.h"

#define GV_NOISE 0x1p-17 /* ulp: half the unit of error_sum; smaller errors count as 0 */
#define GV_ACCURACY 36 /* errors are known within 2^(p - 36) ulp */
#define GV_SHIFTER 0x1.8p52 /* added and taken away: rounds to an integer */
#define GV_WIDE(condition) ((int64_t)(condition)) /* as wide as a double, so that vectors stay in step */

GV_INLINE double gv_without_noise(double error) { return fabs(error) < GV_NOISE ? 0.0 : error; }

/* The binade of u(y) 2^(p-1): its exponent as doubles have it, with their bias; whether the enclosure lies in it. */
typedef struct { int64_t exponent, decided; } gv_binade;

/* of a = |hi| and lo, without its sign */
GV_INLINE gv_binade gv_binade_of(double a, double lo, double err, int64_t emin) {
    uint64_t bits = gv_to_bits(a);
    double power = gv_from_bits(bits & UINT64_C(0x7ff0000000000000));
    double above = (a - power) + lo, below = (power - (a - power)) - lo;
    int64_t exponent = (int64_t)(bits >> 52);
    int64_t decided =
        (GV_WIDE(fabs(above) >= err) | GV_WIDE(exponent <= emin)) & (GV_WIDE(below >= err) | GV_WIDE(exponent < emin));
    exponent -= GV_WIDE(above < 0.0);
    gv_binade binade = {exponent > emin ? exponent : emin, decided};
    return binade;
}

/* E; u(y); whether got is one of the two neighbours of y; whether all this is decided; the rounded y */
typedef struct {
    double error, unit;
    int64_t faithful, decided;
    uint32_t want;
} gv_ulp_error;

/* a = |hi| and lo, with the sign of hi taken off both; accuracy: 2^(p - 36); has_lo = 0 where lo is 0 */
GV_INLINE gv_ulp_error gv_ulp_error_of(double a, double lo, double err, double got, uint64_t sign, gv_binade binade,
                                       const gv_format *fmt, double accuracy, int has_lo) {
    const int64_t emin = fmt->emin + 1023, digits = fmt->precision - 1;
    const int down_shift = 64 - fmt->width;
    double scale = gv_from_bits((uint64_t)(2046 + digits - binade.exponent) << 52); /* 1/u(y) */
    double h = a * scale, whole = (h + GV_SHIFTER) - GV_SHIFTER, f = h - whole, er = err * scale;
    double rounded = whole, error, rest = f;
    double g = gv_from_bits(gv_to_bits(got) ^ sign) * scale;
    int64_t decided;
    if (has_lo) {
        double l = lo * scale, up = (f - 0.5) + l, down = (f + 0.5) + l, side = f + l;
        rounded = whole + (up > 0.0 ? 1.0 : 0.0) - (down < 0.0 ? 1.0 : 0.0);
        rest = f != 0.0 ? f : l;
        error = ((g - whole) - f) - l;
        decided = GV_WIDE(fabs(up) >= er) & GV_WIDE(fabs(down) >= er) & GV_WIDE(fabs(side) >= er);
    } else { /* up = f - 0.5, down = f + 0.5: neither says more than `whole` does */
        error = (g - whole) - f;
        decided = GV_WIDE(0.5 - fabs(f) >= er) & GV_WIDE(fabs(f) >= er);
    }
    double below_y = whole - (rest < 0.0 ? 1.0 : 0.0);
    uint64_t count = gv_to_bits(rounded + 0x1p52) & ((UINT64_C(1) << 52) - 1);
    gv_ulp_error y;
    y.want = (uint32_t)((count + ((uint64_t)(binade.exponent - emin) << digits)) | sign >> down_shift);
    y.error = gv_without_noise(gv_from_bits(gv_to_bits(error) ^ sign));
    y.faithful = GV_WIDE(g == below_y) | (GV_WIDE(g == below_y + 1.0) & GV_WIDE(rest != 0.0));
    y.decided = decided & binade.decided & GV_WIDE(er <= accuracy);
    y.unit = gv_from_bits((uint64_t)(binade.exponent - digits) << 52);
    return y;
}

/* The same of any y, which may overflow, and any output: what is infinite is right where y rounds to it, and beside a y
   beyond the largest number, NaN is not. got_bits, infinity: as wide as a double; got: some number where it is none */
GV_INLINE gv_ulp_error gv_ulp_error_of_any(double a, double lo, double err, double got, int64_t got_bits, uint64_t sign,
                                           const gv_format *fmt, double accuracy, int64_t infinity) {
    const int64_t last = fmt->emax + 1023, magnitude = got_bits & ((INT64_C(1) << (fmt->width - 1)) - 1);
    gv_binade binade = gv_binade_of(a, lo, err, fmt->emin + 1023);
    int64_t beyond = -GV_WIDE(binade.exponent > last); /* counts as 2^(emax + 1), in units of the last binade */
    binade.exponent = binade.exponent > last ? last : binade.exponent;
    a = gv_from_bits((gv_to_bits(a) & (uint64_t)~beyond) | ((uint64_t)(last + 1) << 52 & (uint64_t)beyond));
    lo = gv_from_bits(gv_to_bits(lo) & (uint64_t)~beyond);
    err = gv_from_bits(gv_to_bits(err) & (uint64_t)~beyond);
    uint64_t infinite = (uint64_t)-GV_WIDE(magnitude == infinity), negative = (uint64_t)(got_bits != magnitude) << 63;
    got = gv_from_bits((gv_to_bits(got) & ~infinite) | (((uint64_t)(last + 1) << 52 | negative) & infinite));
    gv_ulp_error y = gv_ulp_error_of(a, lo, err, got, sign, binade, fmt, accuracy, 1);
    int64_t want = (int64_t)y.want;
    int64_t beside = GV_WIDE(got_bits == want + 1) & GV_WIDE(magnitude == infinity) & y.faithful;
    int64_t none = -(GV_WIDE(magnitude >= infinity) & (beside ^ 1));
    int64_t same = GV_WIDE(got_bits == want) & GV_WIDE(magnitude == infinity);
    uint64_t error = (same - 1) & INT64_C(0x7ff) << 52; /* of an output that is no number: 0 or infinite */
    y.error = gv_from_bits((gv_to_bits(y.error) & (uint64_t)~none) | (error & (uint64_t)none));
    y.faithful |= GV_WIDE(magnitude + 1 == infinity) & GV_WIDE(got_bits + 1 == want);
    y.faithful = (y.faithful & ~none) | (same & none);
    return y;
}

#endif
