# cython: boundscheck=False, wraparound=False
"""Calls a C function of one value for every element of an array: the loop that a scalar C function has no use for."""

from libc.stdint cimport uint16_t, uintptr_t

ctypedef fused value:
    uint16_t
    float
    double


cdef void _each(value (*function)(value) noexcept nogil, const value *x, value *y, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        y[i] = function(x[i])


def each_bits16(uintptr_t function, uintptr_t x, uintptr_t y, size_t n):
    """uint16_t function(uint16_t), from and to `n` values at the addresses `x` and `y`; so the others, by type."""
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
