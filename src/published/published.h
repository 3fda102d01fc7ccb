/* Re-implementations of published GELUs that do not install here: formula, constants and order of rounding are theirs,
   the code is ours. Each in the arithmetics that it exists in, and the table of what there is.

   The words of libraries.h, each the name of a dtype or of a way to compute:
     NATIVE        every operation rounded to the dtype; NATIVE_TO_32 the same without float64, HALVES in 16 bits only
     FLOAT16 ...   in that dtype only; the formula says where it rounds
     OPMATH        16-bit dtypes in float32, rounded once; float32; float64. FLOATMATH the same without float64,
                   FLOATMATH_NO_BFLOAT16 without bfloat16 too
     DOUBLEMATH    16-bit dtypes in float64, rounded once; float32; float64 */
#ifndef GELU_VERIFY_PUBLISHED_H
#define GELU_VERIFY_PUBLISHED_H

#include <math.h>

#include "../kernels/arithmetic.h"
#include "../kernels/half.h"
#include "../kernels/kernel.h"
#include "onednn_erf.h"
#include "rational_tanh.h"
#include "rounding.h"

#include "../kernels/float16.h"
#include "../kernels/every_operation.h"
#define NATIVE PUBLISH
#define NATIVE_TO_32 PUBLISH
#define HALVES PUBLISH
#define FLOAT16 PUBLISH
#include "instance.h"

#include "../kernels/float16.h"
#include "../kernels/by_float32.h"
#define OPMATH PUBLISH
#define FLOATMATH PUBLISH
#define FLOATMATH_NO_BFLOAT16 PUBLISH
#include "instance.h"

#include "../kernels/float16.h"
#include "../kernels/by_float64.h"
#define DOUBLEMATH PUBLISH
#include "instance.h"

#include "../kernels/bfloat16.h"
#include "../kernels/every_operation.h"
#define NATIVE PUBLISH
#define NATIVE_TO_32 PUBLISH
#define HALVES PUBLISH
#define BFLOAT16 PUBLISH
#include "instance.h"

#include "../kernels/bfloat16.h"
#include "../kernels/by_float32.h"
#define OPMATH PUBLISH
#define FLOATMATH PUBLISH
#include "instance.h"

#include "../kernels/bfloat16.h"
#include "../kernels/by_float64.h"
#define DOUBLEMATH PUBLISH
#include "instance.h"

#include "../kernels/float32.h"
#define NATIVE PUBLISH
#define NATIVE_TO_32 PUBLISH
#define FLOAT32 PUBLISH
#define OPMATH PUBLISH
#define FLOATMATH PUBLISH
#define FLOATMATH_NO_BFLOAT16 PUBLISH
#define DOUBLEMATH PUBLISH
#include "instance.h"

#include "../kernels/float64.h"
#define NATIVE PUBLISH
#define OPMATH PUBLISH
#define DOUBLEMATH PUBLISH
#include "instance.h"

static const struct kernel *const published_lists[] = {
    published_f16,         published_by_f32_f16,  published_by_f64_f16, published_bf16,
    published_by_f32_bf16, published_by_f64_bf16, published_f32,        published_f64,
};

/* The index-th re-implementation, NULL after the last. */
static const struct kernel *kernel_at(size_t index)
{
    return kernel_of(published_lists, sizeof published_lists / sizeof *published_lists, index);
}

#endif
