# NumPy ufuncs of the kernels. NumPy makes arrays aligned and of native byte order, and calls the loops without the GIL.
# Where arrays overlap it makes a copy, unless a loop that goes from element to element does not need one.

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stddef cimport ptrdiff_t

ctypedef ptrdiff_t npy_intp
ctypedef void (*PyUFuncGenericFunction)(char **args, const npy_intp *dimensions, const npy_intp *steps,
                                        void *data) noexcept nogil
# NumPy's binary interface, the same in every version: numbers of dtypes, and places 1 and 2 of its table of functions
cdef enum:
    NPY_FLOAT = 11
    NPY_DOUBLE = 12
    NPY_HALF = 23
    PyUFunc_None = -1
ctypedef object (*PyUFunc_FromFuncAndData)(PyUFuncGenericFunction *loops, void **data, const char *types, int n_types,
                                           int n_in, int n_out, int identity, const char *name, const char *doc,
                                           int unused)
ctypedef int (*PyUFunc_RegisterLoopForType)(object ufunc, int user_type, PyUFuncGenericFunction loop, const int *types,
                                            void *data) except -1

cdef extern from "Python.h":
    int PyThreadState_SetAsyncExc(unsigned long thread, object exception)
    unsigned long PyThread_get_thread_ident()

cdef extern from "arrays/strided.h" nogil:
    void gv_gather_float32(const char *x, ptrdiff_t stride, float *block, size_t n) noexcept nogil
    void gv_gather_float64(const char *x, ptrdiff_t stride, double *block, size_t n) noexcept nogil
    void gv_scatter_float32(const float *block, char *y, ptrdiff_t stride, size_t n) noexcept nogil
    void gv_scatter_float64(const double *block, char *y, ptrdiff_t stride, size_t n) noexcept nogil
    void gv_look_up_strided(const uint16_t *table, const char *x, ptrdiff_t x_stride, char *y, ptrdiff_t y_stride,
                            size_t n) noexcept nogil

cdef enum:
    STRIDED_BLOCK = 2048  # values: on the stack

cdef PyUFuncGenericFunction UFUNC_LOOPS[3]
cdef char UFUNC_TYPES[6]


cdef class UFunc:
    """What NumPy points to for ever: it copies neither the name, nor the documentation, nor what loops are called with."""

    cdef readonly object ufunc
    cdef Kernel _kernel
    cdef bytes _name, _doc
    cdef void *_data[3]

    def __init__(self, Kernel kernel, str name, str doc, int bfloat16):
        """`bfloat16`: NumPy's number of ml_dtypes' dtype."""
        from numpy._core._multiarray_umath import _UFUNC_API
        cdef int types[2]
        cdef void **numpy_functions = <void **>PyCapsule_GetPointer(_UFUNC_API, NULL)
        for loop, dtype in enumerate((NPY_HALF, NPY_FLOAT, NPY_DOUBLE)):
            UFUNC_TYPES[2 * loop] = UFUNC_TYPES[2 * loop + 1] = dtype
            self._data[loop] = <void *>kernel
        UFUNC_LOOPS[0], UFUNC_LOOPS[1], UFUNC_LOOPS[2] = _float16_loop, _float32_loop, _float64_loop
        self._kernel, self._name, self._doc = kernel, name.encode(), doc.encode()
        self.ufunc = (<PyUFunc_FromFuncAndData>numpy_functions[1])(
            UFUNC_LOOPS, self._data, UFUNC_TYPES, 3, 1, 1, PyUFunc_None, self._name, self._doc, 0)
        types[0] = types[1] = bfloat16
        (<PyUFunc_RegisterLoopForType>numpy_functions[2])(self.ufunc, bfloat16, _bfloat16_loop, types, <void *>kernel)


cdef void _float16_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) noexcept nogil:
    _look_up(FLOAT16, args, dimensions, steps, data)


cdef void _bfloat16_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) noexcept nogil:
    _look_up(BFLOAT16, args, dimensions, steps, data)


cdef void _look_up(int kind, char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) noexcept nogil:
    cdef const uint16_t *table = (<Kernel>data)._tables[kind]
    if table == NULL:
        with gil:
            try:
                table = (<Kernel>data)._table(kind)
            except BaseException as error:
                _raise_later(error)
                return
    if steps[0] == sizeof(uint16_t) and steps[1] == sizeof(uint16_t):
        gv_16_bit_loop((<Kernel>data)._bfloat16 if kind == BFLOAT16 else NULL, table, <const uint16_t *>args[0],
                         <uint16_t *>args[1], dimensions[0])
    else:
        gv_look_up_strided(table, args[0], steps[0], args[1], steps[1], dimensions[0])


cdef void _float32_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) noexcept nogil:
    cdef float block[STRIDED_BLOCK]
    cdef size_t n = dimensions[0], first = 0, count
    cdef gv_cr_f32 kernel = (<Kernel>data)._compiled.f32
    if steps[0] == sizeof(float) and steps[1] == sizeof(float) and _may_be_whole(args, n * sizeof(float)):
        gv_float32_loop(kernel, <const float *>args[0], <float *>args[1], n)
        return
    while first < n:
        count = min(n - first, <size_t>STRIDED_BLOCK)
        gv_gather_float32(args[0] + <npy_intp>first * steps[0], steps[0], block, count)
        gv_float32_loop(kernel, block, block, count)
        gv_scatter_float32(block, args[1] + <npy_intp>first * steps[1], steps[1], count)
        first += count


cdef void _float64_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) noexcept nogil:
    cdef double block[STRIDED_BLOCK]
    cdef size_t n = dimensions[0], first = 0, count
    if steps[0] == sizeof(double) and steps[1] == sizeof(double) and _may_be_whole(args, n * sizeof(double)):
        _evaluate_contiguous(data, <const double *>args[0], <double *>args[1], n)
        return
    while first < n:
        count = min(n - first, <size_t>STRIDED_BLOCK)
        gv_gather_float64(args[0] + <npy_intp>first * steps[0], steps[0], block, count)
        _evaluate_contiguous(data, block, block, count)
        gv_scatter_float64(block, args[1] + <npy_intp>first * steps[1], steps[1], count)
        first += count


cdef bint _may_be_whole(char **args, size_t size) noexcept nogil:
    """Whether contiguous arrays are the same memory, or disjoint. Others are copied in blocks, in NumPy's order."""
    return args[0] == args[1] or args[0] + size <= args[1] or args[1] + size <= args[0]


cdef void _evaluate_contiguous(void *data, const double *x, double *y, size_t n) noexcept nogil:
    cdef gv_undecided undecided
    cdef size_t done = 0
    while done < n:
        done = gv_float64_loop((<Kernel>data)._compiled.f64, x, y, done, n, &undecided)
        if undecided.count:
            with gil:
                try:
                    (<Kernel>data)._ask_oracle(&undecided, y)
                except BaseException as error:
                    _raise_later(error)
                    return


cdef void _raise_later(error) noexcept:
    """A loop cannot raise: this thread does, as soon as it is in Python again."""
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type(error))
