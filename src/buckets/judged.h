/* One answer in a format of 32 bits or less against what known.h says: judge.h, one operation after the other, without
   branches. What is not decided here (specials, ties, sides too close) goes to gv_judge_one. */
#ifndef GV_REDUCE_JUDGED_H
#define GV_REDUCE_JUDGED_H
#include "../truth/judge.h"

#define GV_NOISE 0x1p-17 /* ulp: half the unit of error_sum; smaller errors count as 0 */
#define GV_ACCURACY 36 /* errors are known within 2^(p - 36) ulp: less certain values are not used */
#define GV_SHIFTER 0x1.8p52
#define GV_WIDE(condition) ((int64_t)(condition)) /* as wide as a double, so that vectors stay in step */

GV_INLINE double gv_less_noise(double error) { return fabs(error) < GV_NOISE ? 0.0 : error; }

/* u(y) of one value: exponents are those of doubles, with their bias; known: the binade is decided */
typedef struct { int64_t top, known; } gv_binade;

GV_INLINE gv_binade gv_binade_of(double a, double lo, double err, int64_t emin) {
    uint64_t bits = gv_to_bits(a);
    double power = gv_from_bits(bits & UINT64_C(0x7ff0000000000000));
    double above = (a - power) + lo, below = (power - (a - power)) - lo;
    int64_t field = (int64_t)(bits >> 52);
    int64_t known = (GV_WIDE(fabs(above) >= err) | GV_WIDE(field <= emin)) &
                    (GV_WIDE(below >= err) | GV_WIDE(field < emin));
    field -= GV_WIDE(above < 0.0);
    gv_binade binade = {field > emin ? field : emin, known};
    return binade;
}

/* want without the sign of NaN; error; u(y) */
typedef struct { double error, unit; int64_t faithful, decided; uint32_t want; } gv_judged;

/* a >= 0 and lo: the value, its sign bit taken off; has_lo: some lo is not 0 */
GV_INLINE gv_judged gv_judge_number(double a, double lo, double err, double got, uint64_t sign, gv_binade binade,
                                    const gv_format *fmt, double accuracy, int has_lo) {
    const int64_t emin = fmt->emin + 1023, digits = fmt->precision - 1;
    const int down_shift = 64 - fmt->width;
    double scale = gv_from_bits((uint64_t)(2046 + digits - binade.top) << 52);
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
    gv_judged y;
    y.want = (uint32_t)((count + ((uint64_t)(binade.top - emin) << digits)) | sign >> down_shift);
    y.error = gv_less_noise(gv_from_bits(gv_to_bits(error) ^ sign));
    y.faithful = GV_WIDE(g == below_y) | (GV_WIDE(g == below_y + 1.0) & GV_WIDE(rest != 0.0));
    y.decided = decided & binade.known & GV_WIDE(er <= accuracy);
    y.unit = gv_from_bits((uint64_t)(binade.top - digits) << 52);
    return y;
}

#endif
