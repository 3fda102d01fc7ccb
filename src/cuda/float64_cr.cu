/* Correctly rounded float64: by pieces, as on the CPU (../cr/float64.h); what these do not decide, by the same pieces
   in double-double, then by src/math. What that does not decide either (../export/gelu_verify.h says how seldom) is
   written as the nearest of the candidates, and its place goes to `gv_undecided`, for the oracle.
   Bounds: those of the pieces, proved in tests/prove/test_float64.py. Tests: tests/gpu/test_cuda_bits.py on the CPU,
   tests/gpu/test_cuda_device.py on a device. */
// build: -fmad=false
#define GV_HAVE_FMA 1
#define GV_F64_LANES 1
#define GV_PIECES_ONLY
#include "cr/float64.h"
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

/* gelu_function, ...: its pieces, and its value by src/math, in double-double */
#define FUNCTION(name, NAME, whole, derivative) \
    struct name##_function { \
        GV_MEMBER gv_piecewise pieces() { \
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
GV_PIECEWISE_FUNCTIONS(FUNCTION)

template <class Function> struct by_piece {
    GV_MEMBER bool decides(double x, double *y) {
        gv_piecewise f = Function::pieces();
        double step = gv_lanes_min(fabs(x), (f.count - 1) / f.per_unit) * f.per_unit + 0x1.8p52;
        return gv_piece_lanes(&f, x, &step, y) == 0;
    }
};

/* Not inlined: few threads need it, and its registers would be those of all. */
template <class Function> GV_OUT_OF_LINE double gv_by_formula(double x, gv_count place) {
    int decided;
    double y = Function::formula(x, &decided);
    if (!decided) gv_note_undecided(place);
    return y;
}

template <class Function> struct in_double_double {
    GV_MEMBER double of(double x, gv_count place) {
        gv_piecewise f = Function::pieces();
        double y;
        if (gv_wide_has(&f, x) && gv_round_wide(gv_wide(&f, x), &y)) return y;
        if (x >= f.whole) return f.derivative ? 1.0 : x;
        return gv_by_formula<Function>(x, place);
    }
};

#define KERNEL(name, NAME, whole, derivative) \
    GV_KERNEL(GV_THREADS) name##_cr_f64(const uint64_t *x, uint64_t *y, gv_count n) { \
        GV_SHARED gv_queue<uint64_t> queue; \
        gv_each_queued<gv_float64, by_piece<name##_function>, in_double_double<name##_function>>(x, y, n, &queue); \
    }
GV_PIECEWISE_FUNCTIONS(KERNEL)

#define ROW(name, NAME, whole, derivative) \
    {#name "_cr_f64", #name "_cr", \
     #name,           "cr", \
     "float64",       "correctly rounded, by pieces in double-double", \
     GV_THREADS,      0},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {GV_PIECEWISE_FUNCTIONS(ROW) GV_END_OF_KERNELS};
}
