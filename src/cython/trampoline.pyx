# cython: boundscheck=False, wraparound=False
"""Calls a C function of one value for every element of an array; saves and restores the floating-point environment;
sees which array a function writes to."""

from libc.stdint cimport uint16_t, uint64_t, uintptr_t

cdef extern from "<fenv.h>" nogil:
    ctypedef struct fenv_t:
        pass
    int fegetenv(fenv_t *)
    int fesetenv(const fenv_t *)

cdef extern from * nogil:
    """
    static int subnormals_are_lost(void) { volatile double smallest_normal = 0x1p-1022; return smallest_normal / 2 == 0; }
    """
    int subnormals_are_lost()

cdef extern from "targets/order.h" nogil:
    int arrays_written(uintptr_t function, int form, const void *values, uint64_t n, uint64_t itemsize)

ctypedef fused value:
    uint16_t
    float
    double


cdef void _each(value (*function)(value) noexcept nogil, const value *x, value *y, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        y[i] = function(x[i])


def each_bits16(uintptr_t function, uintptr_t x, uintptr_t y, size_t n):
    """uint16_t function(uint16_t), on `n` values at address `x`, results to address `y`; the others likewise."""
    with nogil:
        _each[uint16_t](<uint16_t (*)(uint16_t) noexcept nogil>function, <const uint16_t *>x, <uint16_t *>y, n)


def each_float(uintptr_t function, uintptr_t x, uintptr_t y, size_t n):
    """float function(float)"""
    with nogil:
        _each[float](<float (*)(float) noexcept nogil>function, <const float *>x, <float *>y, n)


def each_double(uintptr_t function, uintptr_t x, uintptr_t y, size_t n):
    """double function(double)"""
    with nogil:
        _each[double](<double (*)(double) noexcept nogil>function, <const double *>x, <double *>y, n)


def environment():
    """The floating-point environment of this thread, as bytes for `set_environment`."""
    cdef fenv_t here
    fegetenv(&here)
    return (<const char *>&here)[:sizeof(here)]


def set_environment(const unsigned char[::1] saved):
    """Put this thread back into an environment that was read before."""
    if saved.shape[0] != sizeof(fenv_t):
        raise ValueError("these bytes are not a floating-point environment")
    fesetenv(<const fenv_t *>&saved[0])


def flushes():
    """Whether this thread's results are flushed to zero where they are subnormal."""
    return bool(subnormals_are_lost())


def written(uintptr_t function, int form, const unsigned char[::1] values, size_t itemsize):
    """What one call in a form of targets/order.h, in a process of its own, writes to: the sum of 1 (the first array), 2
    (the second; of values: their results depend on them), or 4 where it ended its process, 8 where it did not return in
    time. `values`: the bytes of n ordinary numbers for each array."""
    cdef uint64_t n = values.shape[0] // (2 * itemsize)
    with nogil:
        found = arrays_written(function, form, &values[0], n, itemsize)
    return found
