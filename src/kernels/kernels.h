/* The kernels under test in every arithmetic, and the table of what there is.

   16-bit dtypes come twice: every operation rounded (no suffix), and computed in float and rounded once (-f32). */
#ifndef GELU_VERIFY_KERNELS_H
#define GELU_VERIFY_KERNELS_H

#include <math.h>
#include <stddef.h>

#include "arithmetic.h"
#include "gelu_tanh_table.h"
#include "half.h"
#include "kernel.h"

#define DTYPE "float16"
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f16
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_f16(b)
#define STORE(v) f16_of_f32(v)
#define ROUND(v) f32_of_f16(f16_of_f32(v))
#define LIBM(name) name##f
#include "instance.h"

#define DTYPE "float16"
#define SUFFIX "-f32"
#define ROUNDING "computed in float32, rounded once"
#define NAME(f) f##_f16_by_f32
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_f16(b)
#define STORE(v) f16_of_f32(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#include "instance.h"

#define DTYPE "bfloat16"
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) f##_bf16
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_bf16(b)
#define STORE(v) bf16_of_f32(v)
#define ROUND(v) f32_of_bf16(bf16_of_f32(v))
#define LIBM(name) name##f
#include "instance.h"

#define DTYPE "bfloat16"
#define SUFFIX "-f32"
#define ROUNDING "computed in float32, rounded once"
#define NAME(f) f##_bf16_by_f32
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_bf16(b)
#define STORE(v) bf16_of_f32(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#include "instance.h"

#define DTYPE "float32"
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f32
#define BITS uint32_t
#define T float
#define LOAD(b) f32_of_bits(b)
#define STORE(v) bits_of_f32(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#include "instance.h"

#define DTYPE "float64"
#define SUFFIX ""
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f64
#define BITS uint64_t
#define T double
#define LOAD(b) f64_of_bits(b)
#define STORE(v) bits_of_f64(v)
#define ROUND(v) (v)
#define LIBM(name) name
#include "instance.h"

#define LIST(kernels) {kernels, sizeof kernels / sizeof *kernels}
static const struct {
    const struct kernel *first;
    size_t count;
} kernel_lists[] = {
    LIST(kernels_f16), LIST(kernels_f16_by_f32), LIST(kernels_bf16), LIST(kernels_bf16_by_f32),
    LIST(kernels_f32), LIST(kernels_f64),        LIST(kernels_table),
};
#undef LIST

/* The index-th kernel, NULL after the last. */
static const struct kernel *kernel_at(size_t index)
{
    for (size_t i = 0; i < sizeof kernel_lists / sizeof *kernel_lists; i++) {
        if (index < kernel_lists[i].count)
            return kernel_lists[i].first + index;
        index -= kernel_lists[i].count;
    }
    return NULL;
}

#endif
