/* What a kernel is to the outside. */
#ifndef GELU_VERIFY_KERNEL_H
#define GELU_VERIFY_KERNEL_H

#include <stddef.h>

struct kernel {
    const char *name, *function, *form, *dtype, *note, *source;
    void (*run)(const void *in, void *out, size_t n); /* n bit patterns in, n out; out may not overlap in */
};

#endif
