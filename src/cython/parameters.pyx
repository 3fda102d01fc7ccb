# cython: boundscheck=False, wraparound=False
"""The kernels of src/parameters/, listed and run on arrays of bits with the values of their parameters."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef extern from "parameters/kernels.h" nogil:
    cdef struct parameterized_kernel:
        const char *name
        const char *function
        const char *form
        const char *dtype
        const char *note
        const char *source
        void (*run)(const void *x_bits, void *y_bits, size_t n, const double *parameters) noexcept nogil
    const parameterized_kernel *parameterized_at(size_t index)

cdef extern from * nogil:
    const char *KERNEL_VERSIONS

ctypedef fused bits:
    uint16_t
    uint32_t
    uint64_t


def kernels():
    """(name, function, form, dtype, note, source path) of each kernel, in the order of their indices."""
    cdef size_t index = 0
    cdef const parameterized_kernel *k = parameterized_at(0)
    found = []
    while k != NULL:
        found.append(tuple([(<bytes>text).decode() for text in (k.name, k.function, k.form, k.dtype, k.note, k.source)]))
        index += 1
        k = parameterized_at(index)
    return found


def versions():
    """{header name: hash of its code} as compiled."""
    return dict(item.split("=") for item in (<bytes>KERNEL_VERSIONS).decode().split(";"))


def run(size_t index, const bits[::1] x_bits, bits[::1] y_bits, double first, double second):
    """The index-th kernel on `x_bits`, into `y_bits`, with the parameters of its function in their order."""
    cdef const parameterized_kernel *k = parameterized_at(index)
    cdef double *parameters = [first, second]
    cdef size_t n = x_bits.shape[0]
    if <size_t>y_bits.shape[0] != n:
        raise ValueError(f"{n} inputs but room for {y_bits.shape[0]} outputs")
    if n:
        with nogil:
            k.run(&x_bits[0], &y_bits[0], n, parameters)
