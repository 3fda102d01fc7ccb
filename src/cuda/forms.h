/* Every form in one arithmetic, as kernels, and the table of them. The includer defines those of
   ../kernels/arithmetic.h (T, ROUND, LIBM, NAME) and
     FORMAT, DTYPE       one of formats.h, and its name
     SUFFIX, ROUNDING    what names end with, and when it rounds, in words
     TANH_APPROXIMATE, EXP_APPROXIMATE   1 where LIBM(tanh_approx)(v), LIBM(exp_approx)(v) are there */
#include "kernels/arithmetic.h"
#include "formats.h"
#include "memory.h"

#define NORMCDF(v) ROUND(LIBM(normcdf)(v))
#define TANH_APPROX(v) ROUND(LIBM(tanh_approx)(v))
#define EXP_APPROX(v) ROUND(LIBM(exp_approx)(v))

#define PART(name, v, ...) \
    GV_DEVICE T NAME(name)(T v) { __VA_ARGS__ }
#define KERNEL(function, form, note, ...) \
    struct NAME(function##_##form##_form) { \
        GV_MEMBER T of(T x) { __VA_ARGS__ } \
    }; \
    GV_KERNEL(GV_THREADS) NAME(function##_##form)(const FORMAT::bits *x, FORMAT::bits *y, gv_count n) { \
        gv_each<FORMAT, NAME(function##_##form##_form)>(x, y, n); \
    }
#include "kernels/formulas.h"
#include "device_forms.h"
#undef KERNEL
#undef PART

#define TEXT(s) TEXT_OF(s)
#define TEXT_OF(s) #s
#define PART(name, v, ...)
#define KERNEL(function, form, note, ...) \
    {TEXT(NAME(function##_##form)), \
     #function "_" #form SUFFIX GV_SUFFIX, \
     #function, \
     #form, \
     DTYPE, \
     note "; " ROUNDING, \
     GV_THREADS, \
     0},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {
#include "kernels/formulas.h"
#include "device_forms.h"
    GV_END_OF_KERNELS};
}
