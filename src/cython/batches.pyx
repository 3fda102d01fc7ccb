"""Batches of a search: inputs drawn, outputs scored (src/search/batch.h)."""

from libc.stdint cimport int64_t, uint64_t


cdef extern from "search/batch.h":
    ctypedef struct gv_format:
        int width, precision, emin, emax
    ctypedef struct gv_value:
        pass
    ctypedef struct gv_course:
        pass
    gv_course gv_course_of(const gv_value *y, int64_t span) noexcept nogil
    void gv_draw_ties(uint64_t key, uint64_t number, int64_t centre, int64_t count, int64_t span, int64_t most,
                      const gv_course *c, int64_t *out) noexcept nogil
    ctypedef struct gv_answer:
        pass
    ctypedef struct gv_outcome:
        int64_t count, place
    ctypedef struct gv_outcomes:
        gv_outcome nonfinite, wrong_sign
        int64_t unsure
    void gv_draw_within(uint64_t key, uint64_t number, int64_t first, int64_t last, int64_t count, double shift,
                        double jitter, int64_t *out) noexcept nogil
    void gv_draw_around(uint64_t key, uint64_t number, int64_t centre, int64_t count, int64_t near, int64_t visits,
                        double scale, int64_t most, int64_t *out) noexcept nogil
    void gv_score(const gv_value *y, const gv_format *fmt, const uint64_t *limits, double at_zero, int has_sign,
                  const void *x_bits, const void *got_bits, const int64_t *count, int64_t pieces, gv_answer *answers,
                  gv_outcomes *outcomes) noexcept nogil

cdef extern from "fenv/environment.h" nogil:
    ctypedef struct gv_environment:
        pass
    void gv_enter_default(gv_environment *callers)
    void gv_leave_default(const gv_environment *callers)

ANSWER_SIZE = sizeof(gv_answer)


cdef int _check_counts(const int64_t[::1] count, Py_ssize_t total) except -1:
    cdef Py_ssize_t p
    cdef int64_t n = 0
    for p in range(count.shape[0]):
        if count[p] < 1:
            raise ValueError("a piece without inputs")
        n += count[p]
    if n != total:
        raise ValueError("arrays of different lengths")
    return 0


def draw_within(uint64_t key, const int64_t[::1] first, const int64_t[::1] last, const int64_t[::1] count,
                double shift, double jitter, int64_t[::1] out):
    """Inputs of spans of ordinals: of each, one from each of `count` equal parts, at `shift` of it and at random up to
    `jitter` of it beyond."""
    cdef Py_ssize_t p
    cdef int64_t start = 0
    _check_counts(count, out.shape[0])
    if first.shape[0] != count.shape[0] or last.shape[0] != count.shape[0]:
        raise ValueError("arrays of different lengths")
    with nogil:
        for p in range(count.shape[0]):
            gv_draw_within(key, start, first[p], last[p], count[p], shift, jitter, &out[start])
            start += count[p]


def draw_around(uint64_t key, const int64_t[::1] centre, const int64_t[::1] count, const int64_t[::1] visits,
                int64_t one_in, double scale, int64_t most, int64_t[::1] out):
    """Inputs around centres: one in `one_in` consecutive, the rest at distances up to 2^scale; none beyond `most`."""
    cdef Py_ssize_t p
    cdef int64_t start = 0
    cdef gv_environment callers
    _check_counts(count, out.shape[0])
    if centre.shape[0] != count.shape[0] or visits.shape[0] != count.shape[0]:
        raise ValueError("arrays of different lengths")
    with nogil:
        gv_enter_default(&callers)
        for p in range(count.shape[0]):
            gv_draw_around(key, start, centre[p], count[p], count[p] // one_in, visits[p], scale, most, &out[start])
            start += count[p]
        gv_leave_default(&callers)


def draw_ties(uint64_t key, const unsigned char[::1] values, const int64_t[::1] centre, const int64_t[::1] count,
              int64_t span, int64_t most, int64_t[::1] out):
    """Inputs up to `span` floats after centres with values near midpoints. `values`: at each centre and span/2 and span
    floats after it."""
    cdef Py_ssize_t p
    cdef int64_t start = 0
    cdef gv_environment callers
    cdef gv_course course
    _check_counts(count, out.shape[0])
    if centre.shape[0] != count.shape[0] or values.shape[0] != 3 * count.shape[0] * <Py_ssize_t>sizeof(gv_value):
        raise ValueError("arrays of different lengths")
    with nogil:
        gv_enter_default(&callers)
        for p in range(count.shape[0]):
            course = gv_course_of(<const gv_value *>&values[0] + 3 * p, span)
            gv_draw_ties(key, start, centre[p], count[p], span, most, &course, &out[start])
            start += count[p]
        gv_leave_default(&callers)


def score(const unsigned char[::1] values, tuple fmt, const uint64_t[::1] limits, double at_zero, bint has_sign,
          const unsigned char[::1] x_bits, const unsigned char[::1] got_bits, const int64_t[::1] count,
          unsigned char[::1] answers):
    """Fill `answers` (ANSWER_SIZE bytes a piece), from the values that `evaluate` of the core gave at x.

    Returns (count, place) of the outputs that are not finite and of those with the wrong sign, and how many of the
    first are not decided.
    """
    cdef gv_format f = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
    cdef gv_outcomes outcomes
    cdef gv_environment callers
    cdef Py_ssize_t n = x_bits.shape[0] // (f.width // 8)
    _check_counts(count, n)
    if (got_bits.shape[0] != x_bits.shape[0] or values.shape[0] != n * <Py_ssize_t>VALUE_SIZE
            or answers.shape[0] != count.shape[0] * <Py_ssize_t>sizeof(gv_answer) or limits.shape[0] != 6):
        raise ValueError("arrays of different lengths")
    outcomes = gv_outcomes(gv_outcome(0, -1), gv_outcome(0, -1), 0)
    if n:
        with nogil:
            gv_enter_default(&callers)
            gv_score(<const gv_value *>&values[0], &f, &limits[0], at_zero, has_sign, &x_bits[0], &got_bits[0],
                     &count[0], count.shape[0], <gv_answer *>&answers[0], &outcomes)
            gv_leave_default(&callers)
    return ((outcomes.nonfinite.count, outcomes.nonfinite.place),
            (outcomes.wrong_sign.count, outcomes.wrong_sign.place), outcomes.unsure)


VALUE_SIZE = sizeof(gv_value)
