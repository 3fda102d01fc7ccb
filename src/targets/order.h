/* How a C function of an unknown declaration is called: one call in each of some forms shows it. */
#ifndef GELU_VERIFY_TARGETS_ORDER_H
#define GELU_VERIFY_TARGETS_ORDER_H
#include <stdint.h>

/* f(first, second, n); f(n, first, second); f(first, second, &n) as in Fortran; f(n, first, 1, second, 1) as in BLAS;
   second[i] = f(first[i]), 16 bits as a whole number; the same with 16 bits as a _Float16 or __bf16, which are passed as
   the lower half of a float is. But in the first, a number that f may take besides is NaN. */
enum { ARRAYS, COUNT_FIRST, COUNT_BY_ADDRESS, STRIDES, VALUES, HALVES };
enum { NOTHING = 0, WROTE_FIRST = 1, WROTE_SECOND = 2, ENDED = 4, UNKNOWN = 8 };

/* Calls function in that form in a process of its own, with n ordinary numbers in each array; `values`: 2 n of them, of
   `itemsize` bytes each. Returns which arrays are no longer as they were; the second one but in the first form only where
   it holds results as these functions have them, which depend on x where they are values. ENDED: it ended its process; UNKNOWN: it did not return in time, or could not be called. */
int arrays_written(uintptr_t function, int form, const void *values, uint64_t n, uint64_t itemsize);

#endif
