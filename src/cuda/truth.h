/* One answer against one function, on the device as on the CPU: what known.h, wide.h and the formulas say. */
#ifndef GELU_VERIFY_CUDA_TRUTH_H
#define GELU_VERIFY_CUDA_TRUTH_H
#include "../cr/wide.h"
#include "../math/gelu.h"
#include "../math/gelu_sigmoid.h"
#include "../math/gelu_tanh.h"
#include "../math/silu.h"
#include "tile.h"

typedef struct { double error, unit; uint64_t want; int faithful, decided; } gv_answered;

/* in double-double, as the loops of truth/loops.h: by pieces where that tells enough */
#define GV_DEFINE_EXACT(name, NAME, whole, derivative) \
    GV_INLINE gv_value gv_exact_##name(double x) { \
        if (x == 0.0 || !(fabs(x) <= DBL_MAX)) return gv_exact(0.0); \
        if (gv_wide_has(&gv_##name##_piecewise, x)) { \
            gv_value v = gv_wide(&gv_##name##_piecewise, x); \
            if (gv_wide_decides(v)) return v; \
        } \
        return gv_##name(x); \
    }
GV_PIECEWISE_FUNCTIONS(GV_DEFINE_EXACT)

/* one answer in double-double */
#define GV_DEFINE_ANSWER_EXACTLY(name, NAME, whole, derivative) \
    GV_INLINE gv_answered gv_answer_exactly_##name(double x, uint64_t got_bits, double got, const gv_format *fmt, \
                                                   const gv_truth *truth) { \
        gv_answered y; \
        gv_value v = gv_exact_##name(x); \
        unsigned char flags = gv_judge_one(v, x, got_bits, got, fmt, truth->limits, truth->at_zero, &y.want, &y.error); \
        y.unit = ldexp(1.0, v.hi == 0.0 ? fmt->emin - fmt->precision + 1 : gv_in_units(v, fmt).ue); \
        y.error = gv_less_noise(y.error); \
        y.faithful = (flags & GV_FAITHFUL) != 0; \
        y.decided = (flags & GV_DECIDED) != 0; \
        return y; \
    } \
    /* one answer by what is known of f(x) in double; in double-double where that leaves it open */ \
    GV_INLINE gv_answered gv_answer_##name(gv_known v, double x, uint64_t got_bits, double got, const gv_format *fmt, \
                                           const gv_truth *truth, int plain) { \
        const uint64_t mask = (UINT64_C(1) << (fmt->width - 1)) - 1, infinity = truth->limits[5]; \
        uint64_t sign = gv_to_bits(v.hi) & UINT64_C(1) << 63; \
        double a = gv_from_bits(gv_to_bits(v.hi) ^ sign), lo = gv_from_bits(gv_to_bits(v.lo) ^ sign); \
        const double accuracy = gv_power_of_two(fmt->precision - GV_ACCURACY); \
        gv_binade binade = gv_binade_of(a, lo, v.err, fmt->emin + 1023); \
        gv_judged judged = gv_judge_number(a, lo, v.err, got, sign, binade, fmt, accuracy, 1); \
        gv_answered y = {judged.error, judged.unit, judged.want, judged.faithful != 0, judged.decided != 0}; \
        if (y.decided && (plain || (x != 0.0 && fabs(x) <= DBL_MAX && (got_bits & mask) < infinity))) return y; \
        if (v.err * (1.0 / y.unit) <= accuracy || !(fabs(x) <= DBL_MAX)) { \
            gv_value again = {v.hi, v.lo, v.err, 0}; \
            unsigned char flags = gv_judge_one(again, x, got_bits, got, fmt, truth->limits, truth->at_zero, &y.want, \
                                               &y.error); \
            y.error = gv_less_noise(y.error); \
            y.faithful = (flags & GV_FAITHFUL) != 0; \
            y.decided = (flags & GV_DECIDED) != 0; \
            if (y.decided) return y; \
        } \
        return gv_answer_exactly_##name(x, got_bits, got, fmt, truth); \
    }
GV_PIECEWISE_FUNCTIONS(GV_DEFINE_ANSWER_EXACTLY)

#endif
