/* The tails of float64 for one instruction set, as a library for tests/prove/test_tail.py: hi, lo, loss, scale of each x;
   n is a multiple of GV_F64_LANES. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define GV_HAVE_FMA 1
#else
#define GV_HAVE_FMA 0
#endif
#define GV_ISA(name) name##_here
#include "cr/float64.h"

#define GV_EXPORT(name, NAME, whole, derivative) \
    void name(const double *a, double *out, size_t n); \
    void name(const double *a, double *out, size_t n) { \
        for (size_t i = 0; i < n; i += GV_F64_LANES) { \
            gv_lanes_tail t = gv_tail_of_##name(gv_lanes_load(a + i)); \
            gv_lanes_store(out + i, t.hi); \
            gv_lanes_store(out + n + i, t.lo); \
            gv_lanes_store(out + 2 * n + i, t.loss); \
            gv_lanes_store(out + 3 * n + i, t.scale); \
        } \
    }
GV_PIECEWISE_FUNCTIONS(GV_EXPORT)
