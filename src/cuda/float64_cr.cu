/* Correctly rounded float64, as on the CPU (../cr/float64.h): gelu and gelu_grad by pieces, the others by e^-s and one
   quotient (../cr/logistic.h); what these do not decide, by the same in double-double, then by src/math. What that does
   not decide either (../export/gelu_verify.h says how seldom) is written as the nearest of the candidates, and its
   place goes to `gv_undecided`, for the oracle.
   Bounds: proved in tests/prove/test_float64.py and test_logistic.py. Tests: tests/gpu/test_cuda_bits.py on the CPU,
   tests/gpu/test_cuda_device.py on a device. */
// build: -fmad=false
#define GV_HAVE_FMA 1
#define GV_F64_LANES 1
#define GV_NO_ARRAYS
#include "cr/float64.h"
#include "cr/logistic.h"
#include "export/gelu_verify.h"
#include "formats.h"
#include "queue.h"

#define GV_UNDECIDED_CAPACITY 65535

extern "C" {
/* How many were not decided since this was last set to 0, then the places of the first of them */
GV_ON_DEVICE gv_count gv_undecided[1 + GV_UNDECIDED_CAPACITY];
}

GV_DEVICE void gv_note_undecided(gv_count place) {
    gv_count k = gv_add_one(gv_undecided);
    if (k < GV_UNDECIDED_CAPACITY) gv_undecided[1 + k] = place;
}

/* gelu_function, ...: its pieces or its quotient, and its value by src/math, in double-double */
#define PIECEWISE(name, NAME, whole, derivative) \
    struct name##_function { \
        GV_MEMBER gv_piecewise form() { \
            gv_piecewise f = {gv_##name##_pieces, \
                              gv_##name##_rest, \
                              GV_##NAME##_PIECES, \
                              GV_##NAME##_WIDE, \
                              GV_##NAME##_PER_UNIT, \
                              GV_##NAME##_Q_LOSS, \
                              whole, \
                              derivative}; \
            return f; \
        } \
        GV_MEMBER double formula(double x, int *decided) { return gv_cr_##name##_f64(x, decided); } \
    };
#define LOGISTIC(name) \
    struct name##_function { \
        GV_MEMBER gv_logistic_form form() { return gv_logistic_form_of_##name(); } \
        GV_MEMBER double formula(double x, int *decided) { return gv_cr_##name##_f64(x, decided); } \
    };
GV_PIECEWISE_FUNCTIONS(PIECEWISE)
GV_LOGISTIC_FUNCTIONS(LOGISTIC)

GV_DEVICE bool gv_decides(gv_piecewise f, double x, double *y) {
    double step = gv_lanes_at_most(fabs(x), (f.count - 1) / f.per_unit) * f.per_unit + 0x1.8p52;
    return gv_piece_lanes(&f, x, &step, y) == 0;
}

GV_DEVICE bool gv_decides(gv_logistic_form f, double x, double *y) {
    double steep[2];
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    gv_lanes_divisor sum = gv_logistic_divisor(gv_logistic_exp(gv_logistic_reduce(&f, &powers, x, steep)));
    return gv_logistic_round(&f, x, sum, steep, y) == 0;
}

GV_DEVICE bool gv_decides_in_double_double(gv_piecewise f, double x, double *y) {
    if (gv_wide_has(&f, x) && gv_round_wide(gv_wide(&f, x), y)) return true;
    if (!(x >= f.whole)) return false;
    *y = f.derivative ? 1.0 : x;
    return true;
}

GV_DEVICE bool gv_decides_in_double_double(gv_logistic_form f, double x, double *y) {
    gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers);
    if (gv_lanes_round(gv_logistic_wide(&f, &powers, x), y) == 0) return true;
    if (!(x <= f.zero)) return false;
    *y = -0.0;
    return true;
}

/* Not inlined: few threads need it, and its registers would be those of all. */
template <class Function> GV_OUT_OF_LINE double gv_by_formula(double x, gv_count place) {
    int decided;
    double y = Function::formula(x, &decided);
    if (!decided) gv_note_undecided(place);
    return y;
}

template <class Function> struct in_lanes {
    GV_MEMBER bool decides(double x, double *y) { return gv_decides(Function::form(), x, y); }
};

template <class Function> struct in_double_double {
    GV_MEMBER double of(double x, gv_count place) {
        double y;
        return gv_decides_in_double_double(Function::form(), x, &y) ? y : gv_by_formula<Function>(x, place);
    }
};

#define KERNEL(name) \
    GV_KERNEL(GV_THREADS) name##_cr_f64(const uint64_t *x, uint64_t *y, gv_count n) { \
        GV_SHARED gv_queue<uint64_t> queue; \
        gv_each_queued<gv_float64, in_lanes<name##_function>, in_double_double<name##_function>>(x, y, n, &queue); \
    }
#define KERNEL_BY_PIECES(name, NAME, whole, derivative) KERNEL(name)
GV_PIECEWISE_FUNCTIONS(KERNEL_BY_PIECES)
GV_LOGISTIC_FUNCTIONS(KERNEL)

#define ROW(name, note) {#name "_cr_f64", #name "_cr", #name, "cr", "float64", note, GV_THREADS, 0},
#define ROW_BY_PIECES(name, NAME, whole, derivative) ROW(name, "correctly rounded, by pieces in double-double")
#define ROW_BY_QUOTIENT(name) ROW(name, "correctly rounded, by exp in double-double")
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {GV_PIECEWISE_FUNCTIONS(ROW_BY_PIECES) GV_LOGISTIC_FUNCTIONS(ROW_BY_QUOTIENT)
                                               GV_END_OF_KERNELS};
}
