# Lists and runs the kernels of the header that the includer names, by its `kernel_at`.

from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef extern from "kernels/kernel.h" nogil:
    cdef struct kernel:
        const char *name
        const char *function
        const char *form
        const char *dtype
        const char *note
        const char *source
        void (*run)(const void *x_bits, void *y_bits, size_t n) noexcept nogil

cdef extern from * nogil:
    const kernel *kernel_at(size_t index)
    const char *KERNEL_VERSIONS

ctypedef fused bits:
    uint16_t
    uint32_t
    uint64_t


def kernels():
    """(name, function, form, dtype, note, source path) of each kernel, in the order of their indices."""
    cdef size_t index = 0
    cdef const kernel *k = kernel_at(0)
    found = []
    while k != NULL:
        found.append(tuple([(<bytes>text).decode() for text in (k.name, k.function, k.form, k.dtype, k.note, k.source)]))
        index += 1
        k = kernel_at(index)
    return found


def versions():
    """{header name: hash of its code} as compiled."""
    return dict(item.split("=") for item in (<bytes>KERNEL_VERSIONS).decode().split(";"))


def run(size_t index, const bits[::1] x_bits, bits[::1] y_bits):
    """The index-th kernel on `x_bits`, into `y_bits`."""
    cdef const kernel *k = kernel_at(index)
    cdef size_t n = x_bits.shape[0]
    if <size_t>y_bits.shape[0] != n:
        raise ValueError(f"{n} inputs but room for {y_bits.shape[0]} outputs")
    if n:
        with nogil:
            k.run(&x_bits[0], &y_bits[0], n)
