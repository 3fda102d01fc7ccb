/* GELUs of other forms than (x, y, n), as libraries have them; --call says how each is called. */
#include <math.h>
#include <stddef.h>

static inline float gelu_of(float x)
{
    return 0.5f * x * erfcf(-0x1.6a09e6p-1f /* sqrt(1/2) */ * x);
}

/* XNNPACK: bytes, not values, and parameters that this function does not use */
static inline void gelu_bytes(size_t bytes, const float *input, float *output, const void *params)
{
    (void)params;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        output[i] = gelu_of(input[i]);
}

/* ggml: the number of values first, then the output */
static inline void gelu_output_first(const int n, float *y, const float *x)
{
    for (int i = 0; i < n; i++)
        y[i] = gelu_of(x[i]);
}

/* In place, and the result says whether it worked: 0 for yes */
static inline int gelu_in_place(float *x, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = scale * gelu_of(x[i]);
    return 0;
}
