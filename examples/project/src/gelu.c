/* gelu(x) = x/2 erfc(-x/sqrt(2)), of arrays of float32. Below -13 the result is 0: a subnormal number there costs a
   hundred cycles, and no network needs it. The budgets say what that costs in accuracy. */
#include <math.h>
#include <stddef.h>

void gelu_f32(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] < -13.0f ? -0.0f : 0.5f * x[i] * erfcf(x[i] * -0x1.6a09e6p-1f /* 1/sqrt(2) */);
}
