/* The accurate path of the float32 kernels: one input in double-double, by the formulas of src/math (formula, bound and
   proof: math/<function>.h). For what both enclosures leave undecided: ties, roots of gradients, NaN, and values too
   near a rounding boundary. That its bound decides each of the 2^32 inputs is shown by running them: = 0 undecided,
   test_all_inputs of tests/truth/test_float32_kernels.py. */
#ifndef GV_CR_ACCURATE_H
#define GV_CR_ACCURATE_H
#include "../truth/value.h"

/* The eight functions that have kernels. */
#define GV_CR_FUNCTIONS(F) \
    F(gelu) \
    F(gelu_tanh) \
    F(gelu_sigmoid) \
    F(silu) \
    F(gelu_grad) \
    F(gelu_tanh_grad) \
    F(gelu_sigmoid_grad) \
    F(silu_grad)

/* The correctly rounded result for finite x other than 0, and the canonical NaN for NaN; and the value for the float64
   kernels of every level, any finite x other than 0. */
#define GV_DECLARE_ACCURATE(name) \
    float gv_cr_##name##_accurate(float x); \
    gv_value gv_value_of_##name(double x);
GV_CR_FUNCTIONS(GV_DECLARE_ACCURATE)

#endif
