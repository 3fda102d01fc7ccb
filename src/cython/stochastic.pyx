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
    int gv_keeps_called(int law, double x, double rate, gv_philox_block u)
    int gv_keeps_exactly(int law, double x, double rate, gv_philox_block u)
    void gv_keep(int law, const double *x, double rate, uint64_t seed, uint64_t call, uint64_t start,
                 unsigned char *keep, size_t n)
    void gv_count_16(const uint16_t *y, uint16_t kept, uint16_t other, uint16_t slack, size_t n, int64_t *counts)
    void gv_count_32(const uint32_t *y, uint32_t kept, uint32_t other, uint32_t slack, size_t n, int64_t *counts)
    void gv_count_64(const uint64_t *y, uint64_t kept, uint64_t other, uint64_t slack, size_t n, int64_t *counts)
    void gv_count_rows_16(const uint16_t *y, const uint16_t *kept, const uint16_t *other, uint16_t slack, size_t n,
                          size_t width, uint32_t *in_, uint32_t *out, uint32_t *flipped)
    void gv_count_rows_32(const uint32_t *y, const uint32_t *kept, const uint32_t *other, uint32_t slack, size_t n,
                          size_t width, uint32_t *in_, uint32_t *out, uint32_t *flipped)
    void gv_count_rows_64(const uint64_t *y, const uint64_t *kept, const uint64_t *other, uint64_t slack, size_t n,
                          size_t width, uint32_t *in_, uint32_t *out, uint32_t *flipped)
    void gv_probabilities(int law, const double *x, double rate, double *p, size_t n)
    size_t gv_windows(const unsigned char *bits, size_t n, uint64_t mask, uint64_t *high, uint64_t *low, int64_t *end,
                      size_t room)
    int GV_WINDOW

LAWS = ("normal", "logistic", "constant")
WINDOW = GV_WINDOW


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
    return bool((gv_keeps_exactly if exactly else gv_keeps_called)(_law(law), x, rate, block))


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


def count_rows(const uint[::1] y, const uint[::1] kept, const uint[::1] other, uint slack, uint32_t[:, ::1] counts):
    """As `count`, of inputs that follow one another again and again: y[i] is at input i mod len(kept); the last row may be
    shorter. Added to counts[0], counts[1], counts[2] of each input: kept, other, other with the other sign."""
    cdef size_t n = y.shape[0], width = kept.shape[0]
    if not width or other.shape[0] != kept.shape[0] or counts.shape[0] != 3 or counts.shape[1] != kept.shape[0]:
        raise ValueError("arrays of different lengths")
    if not n:
        return
    with nogil:
        if uint is uint16_t:
            gv_count_rows_16(&y[0], &kept[0], &other[0], slack, n, width, &counts[0, 0], &counts[1, 0], &counts[2, 0])
        elif uint is uint32_t:
            gv_count_rows_32(&y[0], &kept[0], &other[0], slack, n, width, &counts[0, 0], &counts[1, 0], &counts[2, 0])
        else:
            gv_count_rows_64(&y[0], &kept[0], &other[0], slack, n, width, &counts[0, 0], &counts[1, 0], &counts[2, 0])


def probabilities(str law, const double[::1] x, double rate, double[::1] p):
    """Fill p with P(kept) of each x."""
    cdef int number = _law(law)
    if p.shape[0] != x.shape[0]:
        raise ValueError("arrays of different lengths")
    if x.shape[0]:
        with nogil:
            gv_probabilities(number, &x[0], rate, &p[0], x.shape[0])


def windows(const unsigned char[::1] bits, uint64_t mask, uint64_t[::1] high, uint64_t[::1] low, int64_t[::1] end):
    """Sequences of WINDOW elements of `bits` (0, 1), those that a hash of their bits chooses: one in mask + 1. Each as two
    words, and where it ends. Returns how many there are; as many as there is room for are written."""
    cdef size_t n = bits.shape[0], room = min(high.shape[0], low.shape[0], end.shape[0]), found = 0
    if n and room:
        with nogil:
            found = gv_windows(&bits[0], n, mask, &high[0], &low[0], &end[0], room)
    return found
