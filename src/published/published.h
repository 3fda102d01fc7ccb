/* Re-implementations of published GELUs that do not install here: formula, constants and order of rounding are theirs,
   the code is ours. Each in the arithmetics that it exists in, and the table of what there is.

   The words of libraries.h, each the name of a dtype or of a way to compute:
     NATIVE        every operation rounded to the dtype; NATIVE_TO_32 the same without float64, HALVES in 16 bits only
     FLOAT16 ...   in that dtype only; the formula says where it rounds
     OPMATH        16-bit dtypes in float32, rounded once; float32; float64. FLOATMATH the same without float64
     DOUBLEMATH    every dtype in float64, rounded once */
#ifndef GELU_VERIFY_PUBLISHED_H
#define GELU_VERIFY_PUBLISHED_H

#include <math.h>
#include <stddef.h>

#include "../kernels/arithmetic.h"
#include "../kernels/half.h"
#include "../kernels/kernel.h"
#include "onednn_erf.h"
#include "rational_tanh.h"
#include "rounding.h"

#define DTYPE "float16"
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f16
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_f16(b)
#define STORE(v) f16_of_f32(v)
#define ROUND(v) f32_of_f16(f16_of_f32(v))
#define LIBM(name) name##f
#define FMA(a, b, c) f32_of_f16(f16_of_f32(fma_odd(a, b, c)))
#define NATIVE PUBLISH
#define NATIVE_TO_32 PUBLISH
#define HALVES PUBLISH
#define FLOAT16 PUBLISH
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH SKIP
#define FLOATMATH SKIP
#define DOUBLEMATH SKIP
#include "instance.h"

#define DTYPE "float16"
#define ROUNDING "computed in float32, rounded once"
#define NAME(f) f##_f16_by_f32
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_f16(b)
#define STORE(v) f16_of_f32(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#define FMA(a, b, c) fmaf(a, b, c)
#define NATIVE SKIP
#define NATIVE_TO_32 SKIP
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH PUBLISH
#define FLOATMATH PUBLISH
#define DOUBLEMATH SKIP
#include "instance.h"

#define DTYPE "float16"
#define ROUNDING "computed in float64, rounded once"
#define NAME(f) f##_f16_by_f64
#define BITS uint16_t
#define T double
#define LOAD(b) f32_of_f16(b)
#define STORE(v) f16_of_f32(f32_odd_of_f64(v))
#define ROUND(v) (v)
#define LIBM(name) name
#define FMA(a, b, c) fma(a, b, c)
#define NATIVE SKIP
#define NATIVE_TO_32 SKIP
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH SKIP
#define FLOATMATH SKIP
#define DOUBLEMATH PUBLISH
#include "instance.h"

#define DTYPE "bfloat16"
#define ROUNDING "every operation rounded"
#define NAME(f) f##_bf16
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_bf16(b)
#define STORE(v) bf16_of_f32(v)
#define ROUND(v) f32_of_bf16(bf16_of_f32(v))
#define LIBM(name) name##f
#define FMA(a, b, c) f32_of_bf16(bf16_of_f32(fma_odd(a, b, c)))
#define NATIVE PUBLISH
#define NATIVE_TO_32 PUBLISH
#define HALVES PUBLISH
#define FLOAT16 SKIP
#define BFLOAT16 PUBLISH
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH SKIP
#define FLOATMATH SKIP
#define DOUBLEMATH SKIP
#include "instance.h"

#define DTYPE "bfloat16"
#define ROUNDING "computed in float32, rounded once"
#define NAME(f) f##_bf16_by_f32
#define BITS uint16_t
#define T float
#define LOAD(b) f32_of_bf16(b)
#define STORE(v) bf16_of_f32(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#define FMA(a, b, c) fmaf(a, b, c)
#define NATIVE SKIP
#define NATIVE_TO_32 SKIP
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH PUBLISH
#define FLOATMATH PUBLISH
#define DOUBLEMATH SKIP
#include "instance.h"

#define DTYPE "bfloat16"
#define ROUNDING "computed in float64, rounded once"
#define NAME(f) f##_bf16_by_f64
#define BITS uint16_t
#define T double
#define LOAD(b) f32_of_bf16(b)
#define STORE(v) bf16_of_f32(f32_odd_of_f64(v))
#define ROUND(v) (v)
#define LIBM(name) name
#define FMA(a, b, c) fma(a, b, c)
#define NATIVE SKIP
#define NATIVE_TO_32 SKIP
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH SKIP
#define FLOATMATH SKIP
#define DOUBLEMATH PUBLISH
#include "instance.h"

#define DTYPE "float32"
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f32
#define BITS uint32_t
#define T float
#define LOAD(b) f32_of_bits(b)
#define STORE(v) bits_of_f32(v)
#define ROUND(v) (v)
#define LIBM(name) name##f
#define FMA(a, b, c) fmaf(a, b, c)
#define NATIVE PUBLISH
#define NATIVE_TO_32 PUBLISH
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 PUBLISH
#define FLOAT64 SKIP
#define OPMATH PUBLISH
#define FLOATMATH PUBLISH
#define DOUBLEMATH SKIP
#include "instance.h"

#define DTYPE "float32"
#define ROUNDING "computed in float64, rounded once"
#define NAME(f) f##_f32_by_f64
#define BITS uint32_t
#define T double
#define LOAD(b) f32_of_bits(b)
#define STORE(v) bits_of_f32((float)(v))
#define ROUND(v) (v)
#define LIBM(name) name
#define FMA(a, b, c) fma(a, b, c)
#define NATIVE SKIP
#define NATIVE_TO_32 SKIP
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 SKIP
#define OPMATH SKIP
#define FLOATMATH SKIP
#define DOUBLEMATH PUBLISH
#include "instance.h"

#define DTYPE "float64"
#define ROUNDING "every operation rounded"
#define NAME(f) f##_f64
#define BITS uint64_t
#define T double
#define LOAD(b) f64_of_bits(b)
#define STORE(v) bits_of_f64(v)
#define ROUND(v) (v)
#define LIBM(name) name
#define FMA(a, b, c) fma(a, b, c)
#define NATIVE PUBLISH
#define NATIVE_TO_32 SKIP
#define HALVES SKIP
#define FLOAT16 SKIP
#define BFLOAT16 SKIP
#define FLOAT32 SKIP
#define FLOAT64 PUBLISH
#define OPMATH PUBLISH
#define FLOATMATH SKIP
#define DOUBLEMATH PUBLISH
#include "instance.h"

static const struct kernel *const published_lists[] = {
    published_f16,
    published_f16_by_f32,
    published_f16_by_f64,
    published_bf16,
    published_bf16_by_f32,
    published_bf16_by_f64,
    published_f32,
    published_f32_by_f64,
    published_f64,
};

/* The index-th re-implementation, NULL after the last. */
static const struct kernel *published_at(size_t index)
{
    for (size_t i = 0; i < sizeof published_lists / sizeof *published_lists; i++)
        for (const struct kernel *k = published_lists[i]; k->name != NULL; k++)
            if (index-- == 0)
                return k;
    return NULL;
}

#endif
