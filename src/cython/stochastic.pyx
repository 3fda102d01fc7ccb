# cython: boundscheck=False, wraparound=False
"""The sampler of src/stochastic over arrays, and outputs of a map counted."""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

ctypedef fused uint:
    uint16_t
    uint32_t
    uint64_t

cdef extern from "stochastic/arrays.h" nogil:
    ctypedef struct gv_philox_block:
        uint32_t word[4]
    ctypedef struct gv_uint128:
        uint64_t high, low
    gv_philox_block gv_philox(gv_philox_block counter, uint32_t key0, uint32_t key1)
    gv_philox_block gv_element_bits(uint64_t i, uint64_t call, uint64_t seed)
    gv_uint128 gv_keep_threshold(int law, double x, double rate)
    double gv_quick_threshold(int law, double x, double rate, double *err)
    int gv_keeps(int law, double x, double rate, gv_philox_block u)
    int gv_keeps_exactly(int law, double x, double rate, gv_philox_block u)
    void gv_keep(int law, const double *x, double rate, uint64_t seed, uint64_t call, uint64_t start,
                 unsigned char *keep, size_t n)
    void gv_count_16(const uint16_t *y, uint16_t kept, uint16_t other, uint16_t slack, size_t n, int64_t *counts)
    void gv_count_32(const uint32_t *y, uint32_t kept, uint32_t other, uint32_t slack, size_t n, int64_t *counts)
    void gv_count_64(const uint64_t *y, uint64_t kept, uint64_t other, uint64_t slack, size_t n, int64_t *counts)

LAWS = ("normal", "logistic", "constant")


cdef int _law(str name) except -1:
    return LAWS.index(name)


def philox(tuple counter, tuple key):
    """The four words of Philox4x32-10."""
    cdef gv_philox_block block
    for k in range(4):
        block.word[k] = counter[k]
    block = gv_philox(block, key[0], key[1])
    return tuple(block.word[k] for k in range(4))


def element_bits(uint64_t i, uint64_t call, uint64_t seed):
    """The 128 bits of an element, as an integer."""
    cdef gv_philox_block block = gv_element_bits(i, call, seed)
    return sum(int(block.word[k]) << (96 - 32 * k) for k in range(4))


def threshold(str law, double x, double rate=0.0):
    """T, with P(kept) = T / 2^128."""
    cdef gv_uint128 t = gv_keep_threshold(_law(law), x, rate)
    return (int(t.high) << 64) + int(t.low)


def quick_threshold(str law, double x, double rate=0.0):
    """An approximation of T / 2^96, and its error bound."""
    cdef double err = 0.0
    t = gv_quick_threshold(_law(law), x, rate, &err)
    return t, err


def keeps(str law, double x, double rate, bits, bint exactly=False):
    """Whether an element with these 128 bits is kept."""
    cdef gv_philox_block block
    for k in range(4):
        block.word[k] = (bits >> (96 - 32 * k)) & 0xFFFFFFFF
    return bool((gv_keeps_exactly if exactly else gv_keeps)(_law(law), x, rate, block))


def keep(str law, const double[::1] x, double rate, uint64_t seed, uint64_t call, uint64_t start,
         unsigned char[::1] kept):
    """Fill `kept` with 0 and 1, of the elements from `start` on."""
    cdef int number = _law(law)
    cdef size_t n = x.shape[0]
    if kept.shape[0] != x.shape[0]:
        raise ValueError("arrays of different lengths")
    if n:
        with nogil:
            gv_keep(number, &x[0], rate, seed, call, start, &kept[0], n)


def count(const uint[::1] y, const uint[::1] kept, const uint[::1] other, uint slack, int64_t[:, ::1] counts):
    """Add to counts[k] how many outputs of the k-th of as many equal segments of y are `kept[k]`, `other[k]`, that with
    the other sign, and how many there are."""
    cdef Py_ssize_t k, segments = kept.shape[0]
    cdef size_t length
    if not segments or y.shape[0] % segments or other.shape[0] != segments or counts.shape[0] != segments:
        raise ValueError("arrays of different lengths")
    length = y.shape[0] // segments
    if not length or counts.shape[1] != 4:
        raise ValueError("nothing to count")
    with nogil:
        for k in range(segments):
            if uint is uint16_t:
                gv_count_16(&y[k * length], kept[k], other[k], slack, length, &counts[k, 0])
            elif uint is uint32_t:
                gv_count_32(&y[k * length], kept[k], other[k], slack, length, &counts[k, 0])
            else:
                gv_count_64(&y[k * length], kept[k], other[k], slack, length, &counts[k, 0])
