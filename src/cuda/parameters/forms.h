/* Every form of ../../parameters in one arithmetic, as kernels, and the table of them. The includer defines those of
   ../forms.h but the last. A kernel takes two parameters beside x, y and n, those of its function first. */
#include "kernels/arithmetic.h"
#include "../formats.h"
#include "../kernel.h"

#define KERNEL(function, form, note, ...) \
    GV_DEVICE T NAME(function##_##form##_of)(T x, T first, T second) { \
        (void)first, (void)second; \
        __VA_ARGS__ \
    } \
    GV_KERNEL(GV_THREADS) \
    NAME(function##_##form)(const FORMAT::bits *x, FORMAT::bits *y, gv_count n, double first, double second) { \
        gv_count start = (gv_count)gv_block() * gv_threads_of_block() + gv_thread_of_block(); \
        gv_count stride = (gv_count)gv_blocks() * gv_threads_of_block(); \
        for (gv_count i = start; i < n; i += stride) \
            FORMAT::store(y + i, NAME(function##_##form##_of)(FORMAT::load(x + i), (T)first, (T)second)); \
    }
#include "parameters/formulas.h"
#undef KERNEL

#define TEXT(s) TEXT_OF(s)
#define TEXT_OF(s) #s
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
#include "parameters/formulas.h"
    GV_END_OF_KERNELS};
}
