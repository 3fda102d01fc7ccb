/* E = (got - y)/u(y) of one output, on the device as on the CPU: the enclosure in double, what that leaves open in
   double-double (by pieces, ../cr/wide.h, else by ../math), and what that leaves open by the oracle, on the host.
   The definition of E is ../truth/judge.h; the bounds are those of ../buckets/ulp_error.h and of the values.
   Test: tests/measure/test_gpu_judge.py compiles this for the CPU and compares every count with the CPU's reducer. */
#ifndef GELU_VERIFY_CUDA_TRUTH_H
#define GELU_VERIFY_CUDA_TRUTH_H
#include "../cr/wide.h"
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

/* gv_function_gelu, ...: the enclosure of f(x) in double, its value by src/math, its pieces */
#define GV_DEFINE_FUNCTION(name, NAME, whole, derivative) \
    struct gv_function_##name { \
        GV_INLINE gv_enclosure enclosure(double x) { return gv_enclose_##name(x); } \
        GV_INLINE gv_value formula(double x) { return gv_##name(x); } \
        GV_INLINE const gv_piecewise *pieces() { return &gv_##name##_piecewise; } \
    };
GV_PIECEWISE_FUNCTIONS(GV_DEFINE_FUNCTION)

/* in double-double, as the loops of ../truth/loops.h: by pieces where these decide, else by the formula */
template <class Function> GV_INLINE gv_value gv_in_double_double(double x) {
    if (x == 0.0 || !(fabs(x) <= DBL_MAX)) return gv_exact(0.0);
    if (gv_wide_has(Function::pieces(), x)) {
        gv_value v = gv_wide(Function::pieces(), x);
        if (gv_wide_decides(v)) return v;
    }
    return Function::formula(x);
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
