/* All formulas in one arithmetic, as ../kernels/instance.h, and the list of them: NAME(parameterized). */

#define LOOP(name) NAME(name##_loop)
#define KERNEL(function, form, note, ...) \
    KERNEL_INLINE T NAME(function##_##form)(T x, T first, T second) { \
        (void)first, (void)second; \
        __VA_ARGS__ \
    } \
    static void LOOP(function##_##form)(const void *in, void *out, size_t n, const double *parameters) { \
        const BITS *x_bits = (const BITS *)in; \
        BITS *y_bits = (BITS *)out; \
        T first = CONSTANT(parameters[0]), second = CONSTANT(parameters[1]); \
        for (size_t i = 0; i < n; i++) y_bits[i] = STORE(NAME(function##_##form)(LOAD(x_bits[i]), first, second)); \
    }
#include "formulas.h"
#undef KERNEL

#define KERNEL(function, form, note, ...) \
    {#function "_" #form SUFFIX, #function, #form, DTYPE, note "; " ROUNDING, __FILE__, LOOP(function##_##form)},
static const struct parameterized_kernel NAME(parameterized)[] = {
#include "formulas.h"
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
#undef KERNEL
#undef LOOP

#include "../kernels/no_arithmetic.h"
