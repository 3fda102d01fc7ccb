# cython: boundscheck=False, wraparound=False
"""Correctly rounded functions over arrays: kernels of src/cr, tables for 16 bits, the oracle for the undecided."""

from cpython.buffer cimport (PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_IsContiguous, PyBuffer_Release,
                             PyObject_GetBuffer)
from libc.stdint cimport uint16_t, uint64_t
from libc.string cimport memcpy

cdef extern from "cr/cr.h" nogil:
    ctypedef void (*gv_cr_f32)(const float *x, float *y, size_t n) noexcept nogil
    ctypedef size_t (*gv_cr_f64)(const double *x, double *y, size_t n, size_t *undecided) noexcept nogil
    ctypedef struct gv_cr_function:
        gv_cr_f32 f32
        gv_cr_f64 f64
    ctypedef size_t (*gv_cr_bf16)(const uint16_t *table, const uint16_t *x, uint16_t *y, size_t n) noexcept nogil
    const gv_cr_function *gv_cr_find(const char *name, int level)
    gv_cr_bf16 gv_cr_find_bf16(const char *name, int level)
    int gv_cr_best_level()

cdef extern from "cr/levels.h" nogil:
    enum:
        GV_NEON

cdef extern from "arrays/loops.h" nogil:
    ctypedef struct gv_undecided:
        double *x
        size_t *places
        size_t count
    void gv_16_bit_loop(gv_cr_bf16 kernel, const uint16_t *table, const uint16_t *x, uint16_t *y, size_t n) noexcept nogil
    void gv_float32_loop(gv_cr_f32 kernel, const float *x, float *y, size_t n) noexcept nogil
    size_t gv_float64_loop(gv_cr_f64 kernel, const double *x, double *y, size_t start, size_t n,
                           gv_undecided *undecided) noexcept nogil

cdef extern from * nogil:
    const char *CR_VERSION

cdef enum:
    FLOAT16, BFLOAT16, FLOAT32, FLOAT64  # as `KINDS` numbers them

VERSION = (<bytes>CR_VERSION).decode()  # hash of the code
BEST_LEVEL = gv_cr_best_level()  # as cr/cr.h numbers them, that this processor has; 1: portable C
HAS_NEON = bool(GV_NEON)  # level 2 is NEON, not one of x86-64
KINDS = ("float16", "bfloat16", "float32", "float64")


cdef class Kernel:
    """One function, for x and out as `gelu_verify.gelu` takes them.

    The fast path is for aligned, contiguous NumPy arrays; `general(kernel, x, out)` handles everything else, and
    calls `run` on what it has prepared.
    """

    cdef const gv_cr_function *_compiled
    cdef gv_cr_bf16 _bfloat16  # NULL: all results are looked up
    cdef const uint16_t *_tables[2]
    cdef Py_buffer _held[2]
    cdef object _array, _empty_like, _kinds, _load, _oracle, _general

    def __init__(self, str function, array, empty_like, dict kinds, load, oracle, general, int level=0):
        """`array`: the class numpy.ndarray; `kinds`: {dtype: place in KINDS}; `load(kind)`: the table of a 16-bit
        format; `oracle(bits)`: the result of a float64, as bits; `level`: at most BEST_LEVEL, which 0 stands for."""
        cdef bytes name = function.encode()
        self._compiled = gv_cr_find(name, level)
        if self._compiled == NULL:
            raise LookupError(f"there is no correctly rounded {function}")
        self._bfloat16 = gv_cr_find_bf16(name, level)
        self._array, self._empty_like, self._kinds = array, empty_like, kinds
        self._load, self._oracle, self._general = load, oracle, general

    def __dealloc__(self):
        for kind in range(2):
            if self._tables[kind] != NULL:
                PyBuffer_Release(&self._held[kind])

    def __call__(self, x, out=None):
        cdef object y = None
        if type(x) is self._array:
            kind = self._kinds.get(x.dtype)
            if kind is not None:
                y = self._fast_path(kind, x, out)
        return self._general(self, x, out) if y is None else y

    def run(self, int kind, x, y):
        """Evaluate contiguous x into contiguous y of the same length: the same memory, or disjoint."""
        cdef Py_buffer source, target
        PyObject_GetBuffer(x, &source, PyBUF_STRIDES)
        try:
            PyObject_GetBuffer(y, &target, PyBUF_STRIDES | PyBUF_WRITABLE)
            try:
                if not (_is_plain(&source) and _is_plain(&target) and source.len == target.len):
                    raise ValueError("arrays of different lengths, or not contiguous")
                self._evaluate(kind, &source, &target)
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)

    cdef object _fast_path(self, int kind, x, out):
        """The result where both arrays are plain, else None."""
        cdef Py_buffer source, target
        cdef object y = out
        if out is not None and (type(out) is not self._array or self._kinds.get(out.dtype) != kind
                                or not out.flags.writeable):
            return None
        PyObject_GetBuffer(x, &source, PyBUF_STRIDES)
        try:
            if not _is_plain(&source):
                return None
            if out is None:
                y = self._empty_like(x)
            PyObject_GetBuffer(y, &target, PyBUF_STRIDES | PyBUF_WRITABLE)
            try:
                if not (_is_plain(&target) and _same_shape(&source, &target) and _apart(&source, &target)):
                    return None
                self._evaluate(kind, &source, &target)
                return y
            finally:
                PyBuffer_Release(&target)
        finally:
            PyBuffer_Release(&source)

    cdef int _evaluate(self, int kind, const Py_buffer *x, const Py_buffer *y) except -1:
        cdef size_t n = x.len // x.itemsize
        cdef const uint16_t *table
        if n == 0:
            return 0
        if kind == FLOAT32:
            with nogil:
                gv_float32_loop(self._compiled.f32, <const float *>x.buf, <float *>y.buf, n)
        elif kind == FLOAT64:
            self._evaluate_float64(<const double *>x.buf, <double *>y.buf, n)
        else:
            table = self._table(kind)
            with nogil:
                gv_16_bit_loop(self._bfloat16 if kind == BFLOAT16 else NULL, table, <const uint16_t *>x.buf,
                                 <uint16_t *>y.buf, n)
        return 0

    cdef int _evaluate_float64(self, const double *x, double *y, size_t n) except -1:
        cdef gv_undecided undecided
        cdef size_t done = 0
        while done < n:
            with nogil:
                done = gv_float64_loop(self._compiled.f64, x, y, done, n, &undecided)
            self._ask_oracle(&undecided, y)
        return 0

    cdef int _ask_oracle(self, const gv_undecided *undecided, double *y) except -1:
        cdef size_t i
        cdef uint64_t bits
        for i in range(undecided.count):
            memcpy(&bits, &undecided.x[i], sizeof(bits))
            bits = self._oracle(bits)
            memcpy(&y[undecided.places[i]], &bits, sizeof(bits))
        return 0

    cdef const uint16_t *_table(self, int kind) except NULL:
        if self._tables[kind] == NULL:
            table = self._load(kind)
            if table.nbytes != 2 << 16:
                raise ValueError("a table has 65,536 results of 16 bits")
            if self._tables[kind] == NULL:  # no other thread was faster
                PyObject_GetBuffer(table, &self._held[kind], PyBUF_STRIDES)
                self._tables[kind] = <const uint16_t *>self._held[kind].buf
        return self._tables[kind]


cdef bint _is_plain(const Py_buffer *view) noexcept:
    """Aligned and contiguous."""
    return <size_t>view.buf % <size_t>view.itemsize == 0 and PyBuffer_IsContiguous(view, b'C')


cdef bint _same_shape(const Py_buffer *x, const Py_buffer *y) noexcept:
    cdef int axis
    if x.ndim != y.ndim:
        return False
    for axis in range(x.ndim):
        if x.shape[axis] != y.shape[axis]:
            return False
    return True


cdef bint _apart(const Py_buffer *x, const Py_buffer *y) noexcept:
    """The same memory, or disjoint."""
    cdef const char *a = <const char *>x.buf
    cdef const char *b = <const char *>y.buf
    return a == b or a + x.len <= b or b + y.len <= a


include "ufunc.pxi"
