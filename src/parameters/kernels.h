/* The kernels with parameters in every arithmetic, and the table of what there is: as ../kernels/kernels.h. */
#ifndef GELU_VERIFY_PARAMETERS_H
#define GELU_VERIFY_PARAMETERS_H

#include <math.h>
#include <stddef.h>

#include "../kernels/arithmetic.h"
#include "../kernels/half.h"

struct parameterized_kernel {
    const char *name, *function, *form, *dtype, *note, *source;
    /* n bit patterns in, n out; out may not overlap in. parameters: two, those of the function first */
    void (*run)(const void *in, void *out, size_t n, const double *parameters);
};

#include "../kernels/float16.h"
#include "../kernels/every_operation.h"
#include "instance.h"

#include "../kernels/float16.h"
#include "../kernels/by_float32.h"
#include "instance.h"

#include "../kernels/bfloat16.h"
#include "../kernels/every_operation.h"
#include "instance.h"

#include "../kernels/bfloat16.h"
#include "../kernels/by_float32.h"
#include "instance.h"

#include "../kernels/float32.h"
#include "instance.h"

#include "../kernels/float64.h"
#include "instance.h"

static const struct parameterized_kernel *const parameterized_lists[] = {
    parameterized_f16,         parameterized_by_f32_f16, parameterized_bf16,
    parameterized_by_f32_bf16, parameterized_f32,        parameterized_f64,
};

/* The index-th kernel, NULL after the last. */
static const struct parameterized_kernel *parameterized_at(size_t index) {
    for (size_t i = 0; i < sizeof parameterized_lists / sizeof *parameterized_lists; i++)
        for (const struct parameterized_kernel *k = parameterized_lists[i]; k->name != NULL; k++)
            if (index-- == 0) return k;
    return NULL;
}

#endif
