/* The float64 kernels for one instruction set, as a library for test_float64_kernels.py. */
#include <stddef.h>
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define GV_HAVE_FMA 1
#else
#define GV_HAVE_FMA 0
#endif
#ifdef __aarch64__
#define GV_F64_LANES 2
#endif
#define GV_ISA(name) name##_here
#include "cr/float64.h"

#define GV_EXPORT(name) \
    size_t name(const double *x, double *y, size_t n, size_t *undecided); \
    size_t name(const double *x, double *y, size_t n, size_t *undecided) { \
        return gv_cr_##name##_f64_here(x, y, n, undecided); \
    }
#define GV_EXPORT_PIECEWISE(name, NAME, whole, derivative) GV_EXPORT(name)
GV_PIECEWISE_FUNCTIONS(GV_EXPORT_PIECEWISE)
GV_LOGISTIC_FUNCTIONS(GV_EXPORT)
