"""The C reducer (src/buckets) behind `gelu_verify.buckets.reducer`: moves arrays of bits, computes nothing itself."""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef extern from "buckets/reducer.h":
    ctypedef struct gv_format:
        int width, precision, emin, emax
    ctypedef struct gv_value:
        pass
    ctypedef void (*gv_loop)(const double *x, gv_value *y, size_t n) noexcept nogil
    ctypedef void (*gv_oracle)(void *owner, int approximated, uint64_t x_bits, uint64_t got_bits, uint64_t *want,
                               double *error, int *faithful) noexcept
    ctypedef struct gv_enclosed_function:
        pass
    ctypedef struct gv_truth:
        const gv_enclosed_function *function
        gv_loop exact
        uint64_t limits[6]
        double at_zero
    ctypedef struct gv_span:
        int64_t first, last, kind, is_first_order, accepted
        uint64_t constant, required
    ctypedef struct gv_rules:
        gv_format fmt
        gv_truth truth, approximated
        int64_t turns[8]
        int64_t turn_count, falls_first, infinity
        int64_t edges[17]
        int64_t region_count, tail_end, stays_below_x, either_zero, span_count
        gv_span spans[16]
        unsigned char bins[4097]
    ctypedef struct gv_row:
        pass
    ctypedef struct gv_region:
        pass
    ctypedef struct gv_segment:
        pass
    ctypedef struct gv_facts:
        pass
    ctypedef struct gv_reducer:
        gv_rules rules
        gv_row *rows
        gv_region *regions
        gv_facts facts
        gv_segment *segments
        size_t segment_count
    gv_reducer *gv_new_reducer(const gv_rules *rules, gv_oracle oracle, void *owner) nogil
    void gv_free_reducer(gv_reducer *r) nogil
    size_t gv_used_buckets(const gv_reducer *r, uint16_t *buckets) noexcept nogil
    int gv_add_judged(gv_reducer *r, const void *x, const void *got, const void *want, const double *error,
                      const unsigned char *faithful, size_t n) noexcept nogil
    int gv_add_outputs(gv_reducer *r, const void *x, const void *got, size_t n) nogil
    int gv_add_strided(gv_reducer *r, int64_t first, const uint32_t *x, const uint32_t *got, int sealed, size_t n) nogil
    void gv_fill_strided(int64_t first, uint32_t *x, size_t n) noexcept nogil
    const gv_enclosed_function *gv_find_enclosed(const char *name) nogil
    gv_loop gv_find(const char *name) nogil
    const int GV_NO_MEMORY, GV_CHANGED

cdef extern from "buckets/pairs.h":
    ctypedef struct gv_factor:
        double h, l, err
    ctypedef struct gv_second:
        int64_t turns[8]
        int64_t falls_first, tail_end, stays_below_x
        uint32_t bits
    ctypedef struct gv_worst:
        double error
        uint64_t x, got, want
    ctypedef struct gv_pairs:
        int is_product
        const gv_factor *factors
        double at_infinity[2]
        double at_zero[2][2]
        gv_worst worst
        uint32_t worst_second
    gv_pairs *gv_new_pairs(gv_reducer *r) nogil
    void gv_free_pairs(gv_pairs *p) nogil
    void gv_add_second(gv_pairs *p, gv_second second, const uint16_t *got) nogil
    void gv_add_judged_second(gv_pairs *p, const gv_second *second, int64_t turn_count, int either_zero,
                              const uint16_t *got, const uint16_t *want, const double *error,
                              const unsigned char *faithful) noexcept nogil
    void gv_flush_pairs(gv_pairs *p) nogil

cdef extern from "fenv/environment.h" nogil:
    ctypedef struct gv_environment:
        pass
    void gv_enter_default(gv_environment *callers)
    void gv_leave_default(const gv_environment *callers)

STREAMS = 8
SAME, HALF, CONSTANT, NAN = range(4)


def judges(str function):
    """Whether outputs of that function, in 16 and 32 bits, are judged here."""
    return gv_find_enclosed(function.encode()) != NULL


def fill_strided(int64_t first, uint32_t[::1] x):
    """Fill x with x.shape[0] - 1 consecutive float32 inputs from `first` on, in strided order, and the first again."""
    if (x.shape[0] - 1) % STREAMS or x.shape[0] < 2:
        raise ValueError(f"strided order is for a multiple of {STREAMS} inputs, not for {x.shape[0] - 1}")
    with nogil:
        gv_fill_strided(first, &x[0], x.shape[0] - 1)


cdef int _truth(gv_truth *truth, tuple described) except -1:
    """(function, limits, value at zero, whether it is to be judged here)"""
    cdef bytes name = described[0].encode()
    for k in range(6):
        truth.limits[k] = described[1][k]
    truth.at_zero = described[2]
    truth.exact = gv_find(name)
    truth.function = gv_find_enclosed(name)
    return 0


cdef class Reducer:
    """What is kept of all inputs of a sweep; one thread at a time."""

    cdef gv_reducer *_reducer
    cdef object _oracle
    cdef object _failure

    def __cinit__(self, dict rules, oracle):
        cdef gv_rules r
        fmt = rules["fmt"]
        r.fmt = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
        r.truth.function = NULL
        r.approximated.function = NULL
        if rules["truth"] is not None:
            _truth(&r.truth, rules["truth"])
        if rules["approximated"] is not None:
            _truth(&r.approximated, rules["approximated"])
        r.turn_count, r.region_count, r.span_count = len(rules["turns"]), len(rules["edges"]) - 1, len(rules["spans"])
        if r.turn_count > 8 or r.region_count > 16 or r.span_count > 16:
            raise ValueError("more than 8 turning points, 16 regions or 16 analytic spans")
        for k, ordinal in enumerate(rules["turns"]):
            r.turns[k] = ordinal
        if not rules["is_monotone"]:
            r.turn_count = -1
        for k, ordinal in enumerate(rules["edges"]):
            r.edges[k] = ordinal
        for k, span in enumerate(rules["spans"]):
            r.spans[k] = gv_span(span.first, span.last, span.kind, span.is_first_order, span.accepted, span.constant,
                                 span.required)
        r.falls_first, r.infinity, r.tail_end = rules["falls_first"], rules["infinity"], rules["tail_end"]
        r.stays_below_x, r.either_zero = rules["stays_below_x"], rules["either_zero"]
        cdef bytes bins = rules["bins"]
        if len(bins) != sizeof(r.bins):
            raise ValueError("a bin is missing")
        memcpy(r.bins, <const char *>bins, sizeof(r.bins))
        self._oracle, self._failure = oracle, None
        self._reducer = gv_new_reducer(&r, <gv_oracle>_decide, <void *>self)
        if self._reducer == NULL:
            raise MemoryError

    def __dealloc__(self):
        gv_free_reducer(self._reducer)

    cdef int _done(self, int added) except -1:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if added == 0:
            raise MemoryError
        return 0

    def add_judged(self, const unsigned char[::1] x, const unsigned char[::1] got, const unsigned char[::1] want,
                   const double[::1] error, const unsigned char[::1] faithful):
        """A run of inputs, by ordinal, with what `judge` says of the outputs; bits as bytes."""
        cdef Py_ssize_t n = error.shape[0], size = n * (self._reducer.rules.fmt.width // 8)
        if x.shape[0] != size or got.shape[0] != size or want.shape[0] != size or faithful.shape[0] != n or n == 0:
            raise ValueError("arrays of different lengths")
        cdef int added
        cdef gv_environment callers
        with nogil:
            gv_enter_default(&callers)
            added = gv_add_judged(self._reducer, &x[0], &got[0], &want[0], &error[0], &faithful[0], n)
            gv_leave_default(&callers)
        self._done(added)

    def add_outputs(self, const unsigned char[::1] x, const unsigned char[::1] got):
        """A run of inputs, by ordinal, and the outputs there, judged here; bits as bytes."""
        cdef Py_ssize_t n = x.shape[0] // (self._reducer.rules.fmt.width // 8)
        if x.shape[0] != got.shape[0] or n == 0 or self._reducer.rules.truth.function == NULL:
            raise ValueError("arrays of different lengths, or a function that is not judged here")
        cdef int added
        cdef gv_environment callers
        with nogil:
            gv_enter_default(&callers)
            added = gv_add_outputs(self._reducer, &x[0], &got[0], n)
            gv_leave_default(&callers)
        self._done(added)

    def add_strided(self, int64_t first, const uint32_t[::1] x, const uint32_t[::1] got, bint sealed=False):
        """The outputs for what `fill_strided` wrote; False when x was changed since. A sealed x is not looked at."""
        cdef Py_ssize_t n = x.shape[0] - 1
        if got.shape[0] != n + 1 or n < 1 or n % STREAMS or self._reducer.rules.truth.function == NULL:
            raise ValueError("arrays of different lengths, or a function that is not judged here")
        cdef int added
        cdef gv_environment callers
        with nogil:
            gv_enter_default(&callers)
            added = gv_add_strided(self._reducer, first, &x[0], &got[0], sealed, n)
            gv_leave_default(&callers)
        self._done(added != GV_NO_MEMORY)
        return added != GV_CHANGED

    def buckets(self):
        """Those that have inputs, as uint16: a string of bytes."""
        cdef uint16_t buckets[65536]
        cdef size_t count = gv_used_buckets(self._reducer, buckets)
        return bytes((<char *>buckets)[:count * sizeof(uint16_t)])

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        """The records of all buckets: 14 MB, of which those that have inputs have memory."""
        PyBuffer_FillInfo(buffer, self, self._reducer.rows, 65536 * sizeof(gv_row), True, flags)

    def regions(self):
        return bytes((<char *>self._reducer.regions)[:self._reducer.rules.region_count * sizeof(gv_region)])

    def facts(self):
        return bytes((<char *>&self._reducer.facts)[:sizeof(gv_facts)])

    def segments(self):
        """Ordinals of the first and last input of each run with those of their outputs."""
        return bytes((<char *>self._reducer.segments)[:self._reducer.segment_count * sizeof(gv_segment)])


cdef class PairReducer(Reducer):
    """What is kept of pairs; `rules` has "pairs" too: (factors or None, limits at -inf and inf, two values at 0
    and two at -0)."""

    cdef gv_pairs *_pairs
    cdef const double[:, ::1] _factors

    def __init__(self, dict rules, oracle):
        factors, at_infinity, at_zero = rules["pairs"]
        self._pairs = gv_new_pairs(self._reducer)
        if self._pairs == NULL:
            raise MemoryError
        self._pairs.is_product = factors is not None
        if factors is not None:
            if factors.shape != (65536, 3):
                raise ValueError("not three numbers for each x")
            self._factors = factors
            self._pairs.factors = <const gv_factor *>&self._factors[0, 0]
        for k in range(2):
            self._pairs.at_infinity[k] = at_infinity[k]
            self._pairs.at_zero[k][0], self._pairs.at_zero[k][1] = at_zero[k][0], at_zero[k][1]

    def __dealloc__(self):
        gv_free_pairs(self._pairs)

    cdef gv_second _second(self, uint32_t bits, tuple facts) except *:
        cdef gv_second second
        turns, second.falls_first, second.tail_end, second.stays_below_x = facts
        if len(turns) > 8:
            raise ValueError("more than 8 turning points")
        for k in range(8):
            second.turns[k] = turns[k] if k < len(turns) else 0
        second.bits = bits
        return second

    def add_second(self, uint32_t bits, tuple facts, const uint16_t[::1] got):
        """A second input that is a finite number and not 0, and the outputs at every x, by ordinal. `facts`: turning
        points, as many as those of the rules, whether it falls first, the end of the tail, whether it stays below x."""
        cdef gv_second second = self._second(bits, facts)
        cdef gv_environment callers
        if got.shape[0] != 65536:
            raise ValueError("not an output for each x")
        with nogil:
            gv_enter_default(&callers)
            gv_add_second(self._pairs, second, &got[0])
            gv_leave_default(&callers)
        self._done(1)

    def add_judged_second(self, uint32_t bits, tuple facts, bint is_monotone, bint either_zero,
                          const uint16_t[::1] got, const uint16_t[::1] want, const double[::1] error,
                          const unsigned char[::1] faithful):
        """Any second input, with what `judge_pair` says of the outputs at every x."""
        cdef gv_second second = self._second(bits, facts)
        cdef int64_t turn_count = len(facts[0]) if is_monotone else -1
        if got.shape[0] != 65536 or want.shape[0] != 65536 or error.shape[0] != 65536 or faithful.shape[0] != 65536:
            raise ValueError("not an output for each x")
        with nogil:
            gv_add_judged_second(self._pairs, &second, turn_count, either_zero, &got[0], &want[0], &error[0],
                                 &faithful[0])

    def flush(self):
        """Judge and count what waits for more second inputs."""
        cdef gv_environment callers
        with nogil:
            gv_enter_default(&callers)
            gv_flush_pairs(self._pairs)
            gv_leave_default(&callers)
        self._done(1)

    def worst(self):
        """(|E|, x, second input, output, result) of the largest error; None where there is none. Flushed."""
        cdef gv_worst worst = self._pairs.worst
        return None if worst.error < 0 else (worst.error, worst.x, self._pairs.worst_second, worst.got, worst.want)


cdef void _decide(void *owner, int approximated, uint64_t x_bits, uint64_t got_bits, uint64_t *want, double *error,
               int *faithful) noexcept with gil:
    """What even double-double does not decide, by the oracle; what that raises is raised again by `_done`."""
    cdef Reducer self = <Reducer>owner
    want[0], error[0], faithful[0] = 0, 0.0, 0
    if self._failure is not None:
        return
    try:
        want_bits, off, is_faithful = self._oracle(approximated, x_bits, got_bits)
        want[0], error[0], faithful[0] = want_bits, off, is_faithful
    except BaseException as failure:
        self._failure = failure
