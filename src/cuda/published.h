/* The CUDA forms of CUTLASS and FasterTransformer, from the same text as on the CPU (../published), with the tanh that
   they have on devices: tanh.approx. The includer defines T, ROUND, NAME, FORMAT, DTYPE and ROUNDING as for forms.h, FMA
   and which words of ../published/published.h hold here. Between roundings to 16 bits nothing can be contracted. */
#include "kernels/arithmetic.h"
#include "approximate.h"
#include "formats.h"
#include "memory.h"
#include "published/rounding.h"

#define LIBM(name) name##f
#define NATIVE PUBLISH
#define SKIP(...)
#define tanhf(v) gv_tanh_approx(v)

#define PUBLISH(library, path, function, formula, where, ...) \
    struct NAME(library##_##path##_form) { \
        GV_MEMBER T of(T x) { __VA_ARGS__ } \
    }; \
    GV_KERNEL(GV_THREADS) NAME(library##_##path)(const FORMAT::bits *x, FORMAT::bits *y, gv_count n) { \
        gv_each<FORMAT, NAME(library##_##path##_form)>(x, y, n); \
    }
#include "published/cutlass.h"
#include "published/fastertransformer.h"
#undef PUBLISH

#define TEXT(s) TEXT_OF(s)
#define TEXT_OF(s) #s
#define PUBLISH(library, path, function, formula, where, ...) \
    {TEXT(NAME(library##_##path)), \
     #library "-" #path GV_SUFFIX, \
     #function, \
     #library, \
     DTYPE, \
     formula ", tanh: tanh.approx; " ROUNDING, \
     GV_THREADS, \
     0},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {
#include "published/cutlass.h"
#include "published/fastertransformer.h"
    GV_END_OF_KERNELS};
}
