# cython: boundscheck=False, wraparound=False
"""The C kernels of src/kernels/: their list, and a door for arrays of bits."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef extern from "kernels/kernels.h" nogil:
    cdef struct kernel:
        const char *name
        const char *function
        const char *form
        const char *dtype
        const char *note
        const char *source
        void (*run)(const void *x_bits, void *y_bits, size_t n) noexcept nogil
    const kernel *kernel_at(size_t index)
    void fill_gelu_tanh_answers()
    const char *KERNEL_VERSIONS

cdef extern from "kernels/half.h" nogil:
    float f32_of_f16(uint16_t half)
    float f32_of_bf16(uint16_t half)
    uint16_t f16_of_f32(float value)
    uint16_t bf16_of_f32(float value)
    float f32_of_bits(uint32_t bits)
    uint32_t bits_of_f32(float value)

ctypedef fused bits:
    uint16_t
    uint32_t
    uint64_t

fill_gelu_tanh_answers()


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


def widen(bint brain, const uint16_t[::1] half_bits, uint32_t[::1] f32_bits):
    """float16 (or bfloat16, `brain`) to float32, by the conversion that the kernels use."""
    for i in range(half_bits.shape[0]):
        f32_bits[i] = bits_of_f32(f32_of_bf16(half_bits[i]) if brain else f32_of_f16(half_bits[i]))


def narrow(bint brain, const uint32_t[::1] f32_bits, uint16_t[::1] half_bits):
    """float32 to float16 (or bfloat16, `brain`), by the conversion that the kernels use."""
    for i in range(f32_bits.shape[0]):
        half_bits[i] = (bf16_of_f32 if brain else f16_of_f32)(f32_of_bits(f32_bits[i]))
