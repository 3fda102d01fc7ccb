/* Every re-implementation that exists in one arithmetic, as loops over bits, and the list of them: NAME(published).
   The includer defines those of ../kernels/instance.h, and
     FMA(a, b, c)   a*b + c, rounded once to the format
   and says by PUBLISH or SKIP for each word of libraries.h whether it holds here. */

#define LOOP(name) NAME(name##_loop)

#define PART(name, v, ...)                                                                                             \
    KERNEL_INLINE T NAME(name)(T v) { __VA_ARGS__ }
#define SKIP(...)
#define PUBLISH(library, path, function, formula, where, ...)                                                          \
    KERNEL_INLINE T NAME(library##_##path)(T x) { __VA_ARGS__ }                                                        \
    static void LOOP(library##_##path)(const void *in, void *out, size_t n)                                            \
    {                                                                                                                  \
        const BITS *x_bits = (const BITS *)in;                                                                         \
        BITS *y_bits = (BITS *)out;                                                                                    \
        for (size_t i = 0; i < n; i++)                                                                                 \
            y_bits[i] = STORE(NAME(library##_##path)(LOAD(x_bits[i])));                                                \
    }
#include "libraries.h"
#undef PUBLISH
#undef PART

#define PART(name, v, ...)
#define PUBLISH(library, path, function, formula, where, ...)                                                          \
    {#library "-" #path, #function, formula, DTYPE, where "; " ROUNDING, __FILE__, LOOP(library##_##path)},
static const struct kernel NAME(published)[] = {
#include "libraries.h"
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
#undef PUBLISH
#undef PART
#undef SKIP

#undef LOOP
#undef T
#undef ROUND
#undef LIBM
#undef FMA
#undef NAME
#undef DTYPE
#undef ROUNDING
#undef BITS
#undef LOAD
#undef STORE
#undef NATIVE
#undef NATIVE_TO_32
#undef HALVES
#undef FLOAT16
#undef BFLOAT16
#undef FLOAT32
#undef FLOAT64
#undef OPMATH
#undef FLOATMATH
#undef DOUBLEMATH
