"""The native core behind `gelu_verify.reference`: moves arrays of bits, computes nothing itself."""

from libc.stdint cimport int64_t, uint64_t


cdef extern from "truth/core.h":
    ctypedef struct gv_format:
        int width, precision, emin, emax
    ctypedef struct gv_value:
        double hi, lo, err
        int k
    ctypedef void (*gv_loop)(const double *x, gv_value *y, size_t n) noexcept nogil
    gv_loop gv_find(const char *name) nogil
    gv_loop gv_find_formula(const char *name) nogil
    gv_loop gv_find_quick(const char *name) nogil
    const char *gv_name(int index) nogil
    void gv_evaluate(gv_loop loop, gv_loop quick, const gv_format *fmt, const void *x_bits, gv_value *y,
                     size_t n) noexcept nogil
    void gv_judge(const gv_value *y, const gv_format *fmt, const uint64_t *limits, double at_zero,
                  const void *x_bits, const void *got_bits, void *want, double *error,
                  unsigned char *flags, size_t n) noexcept nogil

cdef extern from "truth/rounding.h":
    ctypedef enum gv_direction:
        GV_TO_DOWN, GV_TO_UP, GV_TO_ZERO, GV_TO_ODD
    void gv_round_all(const gv_value *y, const gv_format *fmt, const uint64_t *limits, gv_direction direction,
                      const void *x_bits, void *want, unsigned char *flags, size_t n) noexcept nogil

cdef extern from "truth/hard.h":
    void gv_mark_near(const gv_value *y, const gv_format *fmt, double limit, unsigned char *marks, size_t n) noexcept nogil
    size_t gv_hard_runs(gv_loop loop, gv_loop quick, const gv_format *fmt, int64_t first, size_t n, double limit,
                        int64_t *runs) noexcept nogil

cdef extern from "truth/linear.h":
    const int GV_HAS_LINEAR
    size_t gv_search_linear(const uint64_t *h, int n, uint64_t pieces, uint64_t limit, uint64_t *found,
                            size_t room) noexcept nogil

cdef extern from "carried/carried.h":
    void gv_all_add(const gv_value *a, size_t da, const gv_value *b, size_t db, gv_value *y, size_t n) noexcept nogil
    void gv_all_multiply(const gv_value *a, size_t da, const gv_value *b, size_t db, gv_value *y, size_t n) noexcept nogil
    void gv_all_divide(const gv_value *a, size_t da, const gv_value *b, size_t db, gv_value *y, size_t n) noexcept nogil
    void gv_all_negative(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_absolute(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_sqrt(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_exp(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_expm1(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_log(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_log1p(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_tanh(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_atan(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_erf(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_erfc(const gv_value *a, gv_value *y, size_t n) noexcept nogil
    void gv_all_totals(const gv_value *leading, size_t dl, const gv_value *c, size_t dc, int exactly, gv_value *y,
                       size_t n) noexcept nogil
    void gv_all_exact(const double *m, const int64_t *e, gv_value *y, size_t n) noexcept nogil
    void gv_all_signs(const gv_value *a, signed char *sign, size_t n) noexcept nogil

cdef extern from "fenv/environment.h" nogil:
    ctypedef struct gv_environment:
        pass
    void gv_enter_default(gv_environment *callers)
    void gv_leave_default(const gv_environment *callers)

VALUE_SIZE = sizeof(gv_value)
DECIDED = 1
FAITHFUL = 2
_DIRECTIONS = {"down": GV_TO_DOWN, "up": GV_TO_UP, "zero": GV_TO_ZERO, "odd": GV_TO_ODD}


cdef gv_loop _loop(str function, bint quick=False) except NULL:
    cdef bytes name = function.encode()
    cdef gv_loop loop = gv_find_quick(name) if quick else gv_find(name)
    if loop == NULL:
        raise LookupError(f"the native core has no {function}")
    return loop


cdef int _check(Py_ssize_t n, gv_format f, Py_ssize_t values, const unsigned char[::1] bits) except -1:
    if bits.shape[0] != n * (f.width // 8) or values != n * <Py_ssize_t>sizeof(gv_value):
        raise ValueError("arrays of different lengths")
    return 0


def functions():
    """Names of the functions that the core computes."""
    cdef int index = 0
    names = []
    while gv_name(index) != NULL:
        names.append((<bytes>gv_name(index)).decode())
        index += 1
    return tuple(names)


def evaluate(str function, tuple fmt, const unsigned char[::1] x_bits, unsigned char[::1] values):
    """Fill `values` (VALUE_SIZE bytes an input) at inputs given as the bytes of their bits.

    `fmt` is (width, precision, emin, emax).
    """
    cdef gv_format f = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
    cdef Py_ssize_t n = x_bits.shape[0] // (f.width // 8)
    cdef gv_loop loop = _loop(function), quick = _loop(function, True)
    cdef gv_environment callers
    _check(n, f, values.shape[0], x_bits)
    if n:
        with nogil:
            gv_enter_default(&callers)
            gv_evaluate(loop, quick, &f, &x_bits[0], <gv_value *>&values[0], n)
            gv_leave_default(&callers)


def judge(const unsigned char[::1] values, tuple fmt, const uint64_t[::1] limits, double at_zero,
          const unsigned char[::1] x_bits, const unsigned char[::1] got_bits, unsigned char[::1] want,
          double[::1] error, unsigned char[::1] flags):
    """Fill want, error and flags of n outputs, from the values that `evaluate` gave at their inputs (truth/judge.h)."""
    cdef gv_format f = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
    cdef Py_ssize_t n = flags.shape[0]
    cdef gv_environment callers
    _check(n, f, values.shape[0], x_bits)
    _check(n, f, values.shape[0], got_bits)
    _check(n, f, values.shape[0], want)
    if error.shape[0] != n:
        raise ValueError("arrays of different lengths")
    if n:
        with nogil:
            gv_enter_default(&callers)
            gv_judge(<const gv_value *>&values[0], &f, &limits[0], at_zero, &x_bits[0], &got_bits[0], &want[0],
                     &error[0], &flags[0], n)
            gv_leave_default(&callers)


def round_directed(const unsigned char[::1] values, tuple fmt, const uint64_t[::1] limits, str rounding,
                   const unsigned char[::1] x_bits, unsigned char[::1] want, unsigned char[::1] flags):
    """Fill want and flags (DECIDED) at n inputs, from the values that `evaluate` gave there (truth/rounding.h)."""
    cdef gv_format f = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
    cdef Py_ssize_t n = flags.shape[0]
    cdef gv_direction direction = _DIRECTIONS[rounding]
    cdef gv_environment callers
    _check(n, f, values.shape[0], x_bits)
    _check(n, f, values.shape[0], want)
    if n:
        with nogil:
            gv_enter_default(&callers)
            gv_round_all(<const gv_value *>&values[0], &f, &limits[0], direction, &x_bits[0], &want[0], &flags[0], n)
            gv_leave_default(&callers)


def mark_near(const unsigned char[::1] values, tuple fmt, double limit, unsigned char[::1] marks):
    """Mark those of n values that lie, or may lie, closer than `limit` to a number or midpoint (truth/hard.h)."""
    cdef gv_format f = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
    cdef Py_ssize_t n = marks.shape[0]
    cdef gv_environment callers
    if f.width > 32 or values.shape[0] != n * <Py_ssize_t>sizeof(gv_value):
        raise ValueError("a format of more than 32 bits, or arrays of different lengths")
    if n:
        with nogil:
            gv_enter_default(&callers)
            gv_mark_near(<const gv_value *>&values[0], &f, limit, &marks[0], n)
            gv_leave_default(&callers)


def hard_runs(str function, tuple fmt, int64_t first, double limit, int64_t[:, ::1] runs, Py_ssize_t n):
    """How many runs of hard inputs there are among n from ordinal `first` on; `runs` gets their first and last
    ordinals (truth/hard.h). For formats of up to 32 bits; no input is a zero, an infinity or a NaN."""
    cdef gv_format f = gv_format(fmt[0], fmt[1], fmt[2], fmt[3])
    cdef gv_loop loop = _loop(function), quick = _loop(function, True)
    cdef gv_environment callers
    cdef size_t count
    if f.width > 32 or runs.shape[0] < (n + 1) // 2 or runs.shape[1] != 2 or n < 1:
        raise ValueError("a format of more than 32 bits, or no room for the runs")
    with nogil:
        gv_enter_default(&callers)
        count = gv_hard_runs(loop, quick, &f, first, n, limit, &runs[0, 0])
        gv_leave_default(&callers)
    return count


def search_linear(const uint64_t[::1] h, int n, uint64_t pieces, uint64_t limit, uint64_t[::1] found):
    """How many points t lie within `limit` of an integer, of a polynomial (truth/linear.h); `found` gets them."""
    cdef size_t count
    if not GV_HAS_LINEAR:
        raise NotImplementedError("the C compiler has no 128-bit integers")
    if h.shape[0] != 10 or not 1 <= n <= 24 or found.shape[0] < 1:
        raise ValueError("not five coefficients, or too long a piece")
    with nogil:
        count = gv_search_linear(&h[0], n, pieces, limit, &found[0], found.shape[0])
    return count


def value(str function, double x, bint quick=False):
    """(hi, lo, err, k): f(x) 2^-k within err of hi + lo, for a finite non-zero x, by the formulas of src/math.

    `quick`: in double.
    """
    cdef gv_value y
    cdef gv_environment callers
    cdef bytes name = function.encode()
    cdef gv_loop loop = gv_find_quick(name) if quick else gv_find_formula(name)
    if loop == NULL:
        raise LookupError(f"the native core has no {function}")
    gv_enter_default(&callers)
    loop(&x, &y, 1)
    gv_leave_default(&callers)
    return y.hi, y.lo, y.err, y.k


ctypedef void (*gv_unary)(const gv_value *a, gv_value *y, size_t n) noexcept nogil
ctypedef void (*gv_binary)(const gv_value *a, size_t da, const gv_value *b, size_t db, gv_value *y, size_t n) noexcept nogil

_UNARY = ("negative", "absolute", "sqrt", "exp", "expm1", "log", "log1p", "tanh", "atan", "erf", "erfc")
_BINARY = ("add", "multiply", "divide")
cdef gv_unary[11] _unary = [gv_all_negative, gv_all_absolute, gv_all_sqrt, gv_all_exp, gv_all_expm1, gv_all_log,
                           gv_all_log1p, gv_all_tanh, gv_all_atan, gv_all_erf, gv_all_erfc]
cdef gv_binary[3] _binary = [gv_all_add, gv_all_multiply, gv_all_divide]


cdef Py_ssize_t _operand(const unsigned char[::1] a, Py_ssize_t n) except -1:
    """1, or 0 of an operand that is one number for all."""
    cdef Py_ssize_t found = a.shape[0] // <Py_ssize_t>sizeof(gv_value)
    if found != n and found != 1:
        raise ValueError("arrays of different lengths")
    return found == n


def carried_unary(str operation, const unsigned char[::1] a, unsigned char[::1] y):
    """An operation of src/carried/carried.h on the bytes of gv_values, into `y`."""
    cdef Py_ssize_t n = y.shape[0] // <Py_ssize_t>sizeof(gv_value)
    cdef int which = _UNARY.index(operation)
    cdef gv_environment callers
    if a.shape[0] != y.shape[0]:
        raise ValueError("arrays of different lengths")
    if n:
        with nogil:
            gv_enter_default(&callers)
            _unary[which](<const gv_value *>&a[0], <gv_value *>&y[0], n)
            gv_leave_default(&callers)


def carried_binary(str operation, const unsigned char[::1] a, const unsigned char[::1] b, unsigned char[::1] y):
    """The same of two operands, each of as many numbers as `y` has, or of one."""
    cdef Py_ssize_t n = y.shape[0] // <Py_ssize_t>sizeof(gv_value), da = _operand(a, n), db = _operand(b, n)
    cdef int which = _BINARY.index(operation)
    cdef gv_environment callers
    if n:
        with nogil:
            gv_enter_default(&callers)
            _binary[which](<const gv_value *>&a[0], da, <const gv_value *>&b[0], db, <gv_value *>&y[0], n)
            gv_leave_default(&callers)


def carried_totals(const unsigned char[::1] leading, c, unsigned char[::1] y):
    """Exact leading terms and corrections (None: there are none) as values of the core, into `y`."""
    cdef const unsigned char[::1] correction = leading if c is None else c
    cdef Py_ssize_t n = y.shape[0] // <Py_ssize_t>sizeof(gv_value)
    cdef Py_ssize_t dl = _operand(leading, n), dc = _operand(correction, n)
    cdef int exactly = c is None
    cdef gv_environment callers
    if n:
        with nogil:
            gv_enter_default(&callers)
            gv_all_totals(<const gv_value *>&leading[0], dl, <const gv_value *>&correction[0], dc, exactly,
                          <gv_value *>&y[0], n)
            gv_leave_default(&callers)


def carried_exact(const double[::1] m, const int64_t[::1] e, unsigned char[::1] y):
    """m 2^e, into `y`."""
    if e.shape[0] != m.shape[0] or y.shape[0] != m.shape[0] * <Py_ssize_t>sizeof(gv_value):
        raise ValueError("arrays of different lengths")
    if m.shape[0]:
        gv_all_exact(&m[0], &e[0], <gv_value *>&y[0], m.shape[0])


def carried_signs(const unsigned char[::1] a, signed char[::1] signs):
    """-1, 0 or 1 of each number; 2 where its sign is not known."""
    if a.shape[0] != signs.shape[0] * <Py_ssize_t>sizeof(gv_value):
        raise ValueError("arrays of different lengths")
    if signs.shape[0]:
        gv_all_signs(<const gv_value *>&a[0], &signs[0], signs.shape[0])
