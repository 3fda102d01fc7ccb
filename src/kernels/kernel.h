/* What a kernel is to the outside, and what all are made with. */
#ifndef GELU_VERIFY_KERNEL_H
#define GELU_VERIFY_KERNEL_H

#include <stddef.h>

struct kernel {
    const char *name, *function, *form, *dtype, *note, *source;
    void (*run)(const void *in, void *out, size_t n); /* n bit patterns in, n out; out may not overlap in */
};

#define END_OF_KERNELS {NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* The index-th of those lists of kernels, NULL after the last. */
static inline const struct kernel *kernel_of(const struct kernel *const *lists, size_t count, size_t index)
{
    for (size_t i = 0; i < count; i++)
        for (const struct kernel *k = lists[i]; k->name != NULL; k++)
            if (index-- == 0)
                return k;
    return NULL;
}

/* `run` of a kernel: the function NAME(name) of the arithmetic of the moment, over bits. */
#define LOOP(name) NAME(name##_loop)
#define DEFINE_LOOP(name)                                                                                              \
    static void LOOP(name)(const void *in, void *out, size_t n)                                                        \
    {                                                                                                                  \
        const BITS *x_bits = (const BITS *)in;                                                                         \
        BITS *y_bits = (BITS *)out;                                                                                    \
        for (size_t i = 0; i < n; i++)                                                                                 \
            y_bits[i] = STORE(NAME(name)(LOAD(x_bits[i])));                                                            \
    }

#endif
