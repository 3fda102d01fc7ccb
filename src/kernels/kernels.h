/* The kernels under test in every arithmetic, and the table of what there is.

   16-bit dtypes come twice: every operation rounded (no suffix), and computed in float and rounded once (-f32). */
#ifndef GELU_VERIFY_KERNELS_H
#define GELU_VERIFY_KERNELS_H

#include <math.h>

#include "arithmetic.h"
#include "gelu_tanh_table.h"
#include "half.h"
#include "kernel.h"

#include "float16.h"
#include "every_operation.h"
#include "instance.h"

#include "float16.h"
#include "by_float32.h"
#include "instance.h"

#include "bfloat16.h"
#include "every_operation.h"
#include "instance.h"

#include "bfloat16.h"
#include "by_float32.h"
#include "instance.h"

#include "float32.h"
#include "instance.h"

#include "float64.h"
#include "instance.h"

static const struct kernel *const kernel_lists[] = {
    kernels_f16, kernels_by_f32_f16, kernels_bf16, kernels_by_f32_bf16, kernels_f32, kernels_f64, kernels_table,
};

/* The index-th kernel, NULL after the last. */
static const struct kernel *kernel_at(size_t index)
{
    return kernel_of(kernel_lists, sizeof kernel_lists / sizeof *kernel_lists, index);
}

#endif
