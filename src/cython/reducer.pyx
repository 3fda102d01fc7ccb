"""The C reducer behind `gelu_verify.reduction`: moves arrays of bits, computes nothing itself."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef extern from "buckets/create.h":
    ctypedef struct gv_format:
        int width, precision, emin, emax
    ctypedef struct gv_value:
        pass
    ctypedef void (*gv_loop)(const double *x, gv_value *y, size_t n) noexcept nogil
    ctypedef int (*gv_values)(const double *x, double *hi, double *lo, double *err, size_t n) noexcept nogil
    ctypedef void (*gv_oracle)(void *owner, int approximated, uint64_t x_bits, uint64_t got_bits, uint64_t *want,
                               double *error, int *faithful) noexcept
    ctypedef struct gv_series:
        pass
    ctypedef struct gv_truth:
        gv_values values
        gv_series series
        gv_loop exact
        uint64_t limits[6]
        double at_zero
    ctypedef struct gv_valued_function:
        gv_values values
        gv_series series
    ctypedef struct gv_span:
        int64_t first, last, kind, drifts, accepted
        uint64_t constant, required
    ctypedef struct gv_rules:
        gv_format fmt
        gv_truth truth, approximated
        int64_t turns[8]
        int64_t turn_count, falls_first, last
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
    int gv_add_judged(gv_reducer *r, const void *x, const void *got, const void *want, const double *error,
                      const unsigned char *faithful, size_t n) noexcept nogil
    int gv_add_answers(gv_reducer *r, const void *x, const void *got, size_t n) nogil
    int gv_add_comb(gv_reducer *r, int64_t first, const uint32_t *x, const uint32_t *got, int sealed, size_t n) nogil
    void gv_comb(int64_t first, uint32_t *x, size_t n) noexcept nogil
    const gv_valued_function *gv_find_values(const char *name) nogil
    gv_loop gv_find(const char *name) nogil
    const int GV_NO_MEMORY, GV_CHANGED

cdef extern from "fenv/environment.h" nogil:
    ctypedef struct gv_environment:
        pass
    void gv_enter_default(gv_environment *callers)
    void gv_leave_default(const gv_environment *callers)

BUCKETS = 65536
TEETH = 8
SAME, HALF, CONSTANT, NAN = range(4)


def judges(str function):
    """Whether answers of that function, in 16 and 32 bits, are judged here."""
    return gv_find_values(function.encode()) != NULL


def comb(int64_t first, uint32_t[::1] x):
    """Fill x with x.shape[0] - 1 consecutive float32 inputs from that ordinal on, as a comb, and the first again."""
    if (x.shape[0] - 1) % TEETH or x.shape[0] < 2:
        raise ValueError(f"a comb has a multiple of {TEETH} inputs, not {x.shape[0] - 1}")
    with nogil:
        gv_comb(first, &x[0], x.shape[0] - 1)


cdef int _truth(gv_truth *truth, tuple described) except -1:
    """(function, limits, value at zero, whether it is to be judged here)"""
    cdef bytes name = described[0].encode()
    for k in range(6):
        truth.limits[k] = described[1][k]
    truth.at_zero = described[2]
    truth.exact = gv_find(name)
    cdef const gv_valued_function *found = gv_find_values(name)
    if found != NULL:
        truth.values, truth.series = found.values, found.series
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
        r.truth.values = NULL
        r.approximated.values = NULL
        if rules["truth"] is not None:
            _truth(&r.truth, rules["truth"])
        if rules["approximated"] is not None:
            _truth(&r.approximated, rules["approximated"])
        r.turn_count, r.region_count, r.span_count = len(rules["turns"]), len(rules["edges"]) - 1, len(rules["spans"])
        if r.turn_count > 8 or r.region_count > 16 or r.span_count > 16:
            raise ValueError("more turning points, regions or spans than there is room for")
        for k, ordinal in enumerate(rules["turns"]):
            r.turns[k] = ordinal
        if not rules["is_monotone"]:
            r.turn_count = -1
        for k, ordinal in enumerate(rules["edges"]):
            r.edges[k] = ordinal
        for k, span in enumerate(rules["spans"]):
            r.spans[k] = gv_span(span.first, span.last, span.kind, span.drifts, span.accepted, span.constant,
                                 span.required)
        r.falls_first, r.last, r.tail_end = rules["falls_first"], rules["last"], rules["tail_end"]
        r.stays_below_x, r.either_zero = rules["stays_below_x"], rules["either_zero"]
        for k, place in enumerate(rules["bins"]):
            r.bins[k] = place
        self._oracle, self._failure = oracle, None
        self._reducer = gv_new_reducer(&r, <gv_oracle>_ask, <void *>self)
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
        """A run of inputs, by ordinal, with what `judge` says of the answers; bits as bytes."""
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

    def add_answers(self, const unsigned char[::1] x, const unsigned char[::1] got):
        """A run of inputs, by ordinal, and the answers to them, judged here; bits as bytes."""
        cdef Py_ssize_t n = x.shape[0] // (self._reducer.rules.fmt.width // 8)
        if x.shape[0] != got.shape[0] or n == 0 or self._reducer.rules.truth.values == NULL:
            raise ValueError("arrays of different lengths, or a function that is not judged here")
        cdef int added
        cdef gv_environment callers
        with nogil:
            gv_enter_default(&callers)
            added = gv_add_answers(self._reducer, &x[0], &got[0], n)
            gv_leave_default(&callers)
        self._done(added)

    def add_comb(self, int64_t first, const uint32_t[::1] x, const uint32_t[::1] got, bint sealed=False):
        """The answers to what `comb` gave; False when x was changed in between, which is not asked where it is sealed."""
        cdef Py_ssize_t n = x.shape[0] - 1
        if got.shape[0] != n + 1 or n < 1 or n % TEETH or self._reducer.rules.truth.values == NULL:
            raise ValueError("arrays of different lengths, or a function that is not judged here")
        cdef int added
        cdef gv_environment callers
        with nogil:
            gv_enter_default(&callers)
            added = gv_add_comb(self._reducer, first, &x[0], &got[0], sealed, n)
            gv_leave_default(&callers)
        self._done(added != GV_NO_MEMORY)
        return added != GV_CHANGED

    def rows(self):
        """One record a bucket, met or not."""
        return bytes((<char *>self._reducer.rows)[:BUCKETS * sizeof(gv_row)])

    def regions(self):
        return bytes((<char *>self._reducer.regions)[:self._reducer.rules.region_count * sizeof(gv_region)])

    def facts(self):
        return bytes((<char *>&self._reducer.facts)[:sizeof(gv_facts)])

    def segments(self):
        """Ordinals of the first and last input of each run with those of their answers."""
        return bytes((<char *>self._reducer.segments)[:self._reducer.segment_count * sizeof(gv_segment)])


cdef void _ask(void *owner, int approximated, uint64_t x_bits, uint64_t got_bits, uint64_t *want, double *error,
               int *faithful) noexcept with gil:
    """What even double-double does not decide."""
    cdef Reducer self = <Reducer>owner
    want[0], error[0], faithful[0] = 0, 0.0, 0
    if self._failure is not None:
        return
    try:
        bits, off, near = self._oracle(approximated != 0, x_bits, got_bits)
        want[0], error[0], faithful[0] = bits, off, near
    except BaseException as failure:
        self._failure = failure
