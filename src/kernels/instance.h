/* All formulas in one arithmetic, as loops over bits, and the list of them: NAME(kernels).
   The includer defines those of arithmetic.h and
     DTYPE, SUFFIX     name of the dtype, and what a kernel's name ends with
     ROUNDING          when it rounds, in words
     BITS              unsigned integer that holds a value
     LOAD(b), STORE(v) from those bits to T and back
   All are undefined at the end, so that it can be included again. */

#define LOOP(name) NAME(name##_loop)

#define PART(name, v, ...)                                                                                             \
    KERNEL_INLINE T NAME(name)(T v) { __VA_ARGS__ }
#define KERNEL(function, form, note, ...)                                                                              \
    KERNEL_INLINE T NAME(function##_##form)(T x) { __VA_ARGS__ }                                                       \
    static void LOOP(function##_##form)(const void *in, void *out, size_t n)                                           \
    {                                                                                                                  \
        const BITS *x_bits = (const BITS *)in;                                                                         \
        BITS *y_bits = (BITS *)out;                                                                                    \
        for (size_t i = 0; i < n; i++)                                                                                 \
            y_bits[i] = STORE(NAME(function##_##form)(LOAD(x_bits[i])));                                               \
    }
#include "formulas.h"
#undef KERNEL
#undef PART

#define PART(name, v, ...)
#define KERNEL(function, form, note, ...)                                                                              \
    {#function "_" #form SUFFIX, #function, #form, DTYPE, note "; " ROUNDING, __FILE__, LOOP(function##_##form)},
static const struct kernel NAME(kernels)[] = {
#include "formulas.h"
};
#undef KERNEL
#undef PART

#undef LOOP
#undef T
#undef ROUND
#undef LIBM
#undef NAME
#undef DTYPE
#undef SUFFIX
#undef ROUNDING
#undef BITS
#undef LOAD
#undef STORE
