/* e^-s of logistic.h for one instruction set, as a library for tests/prove/test_logistic.py: hi, lo of each x, by
   gv_logistic_exp, then by gv_logistic_wide_exp; n is a multiple of GV_F64_LANES. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define GV_HAVE_FMA 1
#else
#define GV_HAVE_FMA 0
#endif
#define GV_ISA(name) name##_here
#include "cr/float64.h"

#define GV_EXPORT(name) \
    void name(const double *x, double *out, size_t n); \
    void name(const double *x, double *out, size_t n) { \
        gv_logistic_form f = gv_logistic_form_of_##name(); \
        gv_lanes_powers powers = gv_lanes_powers_of(gv_exp_powers); \
        double steep[2 * GV_F64_LANES]; \
        for (size_t i = 0; i < n; i += GV_F64_LANES) { \
            gv_lanes_pair e = gv_logistic_exp(gv_logistic_reduce(&f, &powers, gv_lanes_load(x + i), steep)); \
            gv_lanes_store(out + i, e.hi); \
            gv_lanes_store(out + n + i, e.lo); \
            gv_lanes s = gv_logistic_clamp(&f, gv_lanes_load(x + i)); \
            e = gv_logistic_wide_exp(&powers, f.slope(s)); \
            gv_lanes_store(out + 2 * n + i, e.hi); \
            gv_lanes_store(out + 3 * n + i, e.lo); \
        } \
    }
GV_LOGISTIC_FUNCTIONS(GV_EXPORT)
