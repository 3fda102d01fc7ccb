# cython: boundscheck=False, wraparound=False
"""The C kernels of src/kernels/, listed and run on arrays of bits."""

cdef extern from "kernels/kernels.h" nogil:
    void fill_gelu_tanh_answers()

include "kernel_table.pxi"

cdef extern from "kernels/half.h" nogil:
    float f32_of_f16(uint16_t half)
    float f32_of_bf16(uint16_t half)
    uint16_t f16_of_f32(float value)
    uint16_t bf16_of_f32(float value)
    float f32_of_bits(uint32_t bits)
    uint32_t bits_of_f32(float value)

fill_gelu_tanh_answers()


def widen(bint brain, const uint16_t[::1] half_bits, uint32_t[::1] f32_bits):
    """float16 (or bfloat16, `brain`) to float32, by the conversion that the kernels use."""
    for i in range(half_bits.shape[0]):
        f32_bits[i] = bits_of_f32(f32_of_bf16(half_bits[i]) if brain else f32_of_f16(half_bits[i]))


def narrow(bint brain, const uint32_t[::1] f32_bits, uint16_t[::1] half_bits):
    """float32 to float16 (or bfloat16, `brain`), by the conversion that the kernels use."""
    for i in range(f32_bits.shape[0]):
        half_bits[i] = (bf16_of_f32 if brain else f16_of_f32)(f32_of_bits(f32_bits[i]))
