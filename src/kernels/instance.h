/* All formulas in one arithmetic, and the list of them: NAME(kernels). The includer defines those of arithmetic.h and
     DTYPE, SUFFIX     name of the dtype, and what a kernel's name ends with
     ROUNDING          when it rounds, in words
     BITS              unsigned integer that holds a value
     LOAD(b), STORE(v) from those bits to T and back; NARROW(v) rounds what carries a value to the bits
     FMA(a, b, c)      a*b + c, rounded once to the format
   by including float32.h, float64.h, or a 16-bit format and when it is rounded to. At the end all are undefined. */

#define PART(name, v, ...)                                                                                             \
    KERNEL_INLINE T NAME(name)(T v) { __VA_ARGS__ }
#define KERNEL(function, form, note, ...)                                                                              \
    KERNEL_INLINE T NAME(function##_##form)(T x) { __VA_ARGS__ }                                                       \
    DEFINE_LOOP(function##_##form)
#include "formulas.h"
#undef KERNEL
#undef PART

#define PART(name, v, ...)
#define KERNEL(function, form, note, ...)                                                                              \
    {#function "_" #form SUFFIX, #function, #form, DTYPE, note "; " ROUNDING, __FILE__, LOOP(function##_##form)},
static const struct kernel NAME(kernels)[] = {
#include "formulas.h"
    END_OF_KERNELS,
};
#undef KERNEL
#undef PART

#include "no_arithmetic.h"
