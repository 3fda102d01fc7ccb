/* Every re-implementation that exists in one arithmetic, and the list of them: NAME(published).
   The includer defines an arithmetic, as for ../kernels/instance.h, and PUBLISH for each word of published.h that holds
   in it. At the end all are undefined. */

#include "words.h"

#define PART(name, v, ...)                                                                                             \
    KERNEL_INLINE T NAME(name)(T v) { __VA_ARGS__ }
#define SKIP(...)
#define PUBLISH(library, path, function, formula, where, ...)                                                          \
    KERNEL_INLINE T NAME(library##_##path)(T x) { __VA_ARGS__ }                                                        \
    DEFINE_LOOP(library##_##path)
#include "libraries.h"
#undef PUBLISH
#undef PART

#define PART(name, v, ...)
#define PUBLISH(library, path, function, formula, where, ...)                                                          \
    {#library "-" #path, #function, formula, DTYPE, where "; " ROUNDING, __FILE__, LOOP(library##_##path)},
static const struct kernel NAME(published)[] = {
#include "libraries.h"
    END_OF_KERNELS,
};
#undef PUBLISH
#undef PART
#undef SKIP

#undef NATIVE
#undef NATIVE_TO_32
#undef HALVES
#undef FLOAT16
#undef BFLOAT16
#undef FLOAT32
#undef OPMATH
#undef FLOATMATH
#undef FLOATMATH_NO_BFLOAT16
#undef DOUBLEMATH
#include "../kernels/no_arithmetic.h"
