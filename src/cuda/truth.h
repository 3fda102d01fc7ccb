/* E = (got - y)/u(y) of one output, on the device as on the CPU: the enclosure in double, what that leaves open in
   double-double (by pieces, ../cr/wide.h, or one quotient, ../cr/logistic.h, else by ../math), and what that leaves
   open by the oracle, on the host.
   The definition of E is ../truth/judge.h; the bounds are those of ../buckets/ulp_error.h and of the values.
   Test: tests/measure/test_gpu_judge.py compiles this for the CPU and compares every count with the CPU's reducer. */
#ifndef GELU_VERIFY_CUDA_TRUTH_H
#define GELU_VERIFY_CUDA_TRUTH_H
#define GV_HAVE_FMA 1 /* of logistic.h: one lane, with fma */
#define GV_F64_LANES 1
#include "../cr/logistic.h"
#include "../cr/wide.h"
#undef GV_HAVE_FMA
#include "../math/gelu.h"
#include "../math/gelu_sigmoid.h"
#include "../math/gelu_tanh.h"
#include "../math/silu.h"
#include "tile.h"

typedef struct {
    double error, unit;
    uint64_t want;
    int faithful, decided;
} gv_judgement;

/* gv_function_gelu, ...: the enclosure of f(x) in double, its value by src/math, its pieces or its quotient */
#define GV_DEFINE_FUNCTION(name, type, its_form) \
    struct gv_function_##name { \
        GV_INLINE gv_enclosure enclosure(double x) { return gv_enclose_##name(x); } \
        GV_INLINE gv_value formula(double x) { return gv_##name(x); } \
        GV_INLINE type form() { return its_form; } \
    };
#define GV_FUNCTION_BY_PIECES(name, NAME, whole, derivative) \
    GV_DEFINE_FUNCTION(name, const gv_piecewise *, &gv_##name##_piecewise)
#define GV_FUNCTION_BY_QUOTIENT(name) GV_DEFINE_FUNCTION(name, gv_logistic_form, gv_logistic_form_of_##name())
GV_PIECEWISE_FUNCTIONS(GV_FUNCTION_BY_PIECES)
GV_LOGISTIC_FUNCTIONS(GV_FUNCTION_BY_QUOTIENT)

/* v, and whether it decides, as in ../truth/loops.h */
GV_INLINE bool gv_is_known(const gv_piecewise *f, double x, gv_value *v) {
    if (!gv_wide_has(f, x)) return false;
    *v = gv_wide(f, x);
    return gv_wide_decides(*v);
}

GV_INLINE bool gv_is_known(const gv_logistic_form &f, double x, gv_value *v) {
    if (!gv_logistic_has(&f, x)) return false;
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    gv_lanes_sum y = gv_logistic_wide(&f, &powers, x);
    *v = gv_logistic_value(y.hi, y.lo, y.loss);
    return gv_wide_decides(*v);
}

/* in double-double: by pieces or a quotient where these decide, else by the formula */
template <class Function> GV_INLINE gv_value gv_in_double_double(double x) {
    gv_value v;
    if (x == 0.0 || !(fabs(x) <= DBL_MAX)) return gv_exact(0.0);
    return gv_is_known(Function::form(), x, &v) ? v : Function::formula(x);
}

/* by a value and its bound, as ../truth/judge.h; `unit` is left as it is */
GV_INLINE void gv_judge_by(gv_judgement *y, gv_value v, double x, uint64_t got_bits, double got, const gv_format *fmt,
                           const gv_truth *truth) {
    unsigned char flags = gv_judge_one(v, x, got_bits, got, fmt, truth->limits, truth->at_zero, &y->want, &y->error);
    y->error = gv_without_noise(y->error);
    y->faithful = (flags & GV_FAITHFUL) != 0;
    y->decided = (flags & GV_DECIDED) != 0;
}

template <class Function>
GV_INLINE gv_judgement gv_judge_in_double_double(double x, uint64_t got_bits, double got, const gv_format *fmt,
                                                 const gv_truth *truth) {
    gv_judgement y;
    gv_value v = gv_in_double_double<Function>(x);
    gv_judge_by(&y, v, x, got_bits, got, fmt, truth);
    y.unit = ldexp(1.0, v.hi == 0.0 ? fmt->emin - fmt->precision + 1 : gv_in_units(v, fmt).ue);
    return y;
}

/* by an enclosure v of f(x); in double-double where that leaves it open. plain: x and got are finite, x is not 0 */
template <class Function>
GV_INLINE gv_judgement gv_judge_output(gv_enclosure v, double x, uint64_t got_bits, double got, const gv_format *fmt,
                                       const gv_truth *truth, int plain) {
    const uint64_t mask = (UINT64_C(1) << (fmt->width - 1)) - 1, infinity = truth->limits[5];
    const double accuracy = gv_power_of_two(fmt->precision - GV_ACCURACY);
    uint64_t sign = gv_to_bits(v.hi) & UINT64_C(1) << 63;
    double a = gv_from_bits(gv_to_bits(v.hi) ^ sign), lo = gv_from_bits(gv_to_bits(v.lo) ^ sign);
    gv_binade binade = gv_binade_of(a, lo, v.err, fmt->emin + 1023);
    gv_ulp_error e = gv_ulp_error_of(a, lo, v.err, got, sign, binade, fmt, accuracy, 1);
    gv_judgement y = {e.error, e.unit, e.want, e.faithful != 0, e.decided != 0};
    if (y.decided && (plain || (x != 0.0 && fabs(x) <= DBL_MAX && (got_bits & mask) < infinity))) return y;
    if (v.err * (1.0 / y.unit) <= accuracy || !(fabs(x) <= DBL_MAX)) {
        gv_value same = {v.hi, v.lo, v.err, 0};
        gv_judge_by(&y, same, x, got_bits, got, fmt, truth);
        if (y.decided) return y;
    }
    return gv_judge_in_double_double<Function>(x, got_bits, got, fmt, truth);
}

#endif
