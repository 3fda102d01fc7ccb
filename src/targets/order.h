/* Which of two arrays a C function of an unknown declaration writes to. */
#ifndef GELU_VERIFY_TARGETS_ORDER_H
#define GELU_VERIFY_TARGETS_ORDER_H
#include <stdint.h>

enum { UNKNOWN = 0, WROTE_FIRST = 1, WROTE_SECOND = 2 };

/* Calls function(first, second, n) once in a process of its own, with n ordinary numbers in each array; `values`: 2 n of
   them, of `itemsize` bytes each. Returns which arrays are no longer as they were, UNKNOWN where it did not return. */
int arrays_written(uintptr_t function, const void *values, uint64_t n, uint64_t itemsize);

#endif
