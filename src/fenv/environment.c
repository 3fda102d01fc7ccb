/* The default floating-point environment for Python functions, and the state in which foreign code leaves it. */
#include <Python.h>
#include <fenv.h>
#include <stdint.h>
#include <string.h>
#include "environment.h"

/* Control bits that are not the default, and their effect in words. */
typedef struct {
    uint64_t mask, value; /* (control & mask) == value; with `other`, != value */
    int other;
    const char *text;
} Meaning;

static const char ROUNDS_DOWN[] = "rounds down", ROUNDS_UP[] = "rounds up", ROUNDS_IN[] = "rounds toward zero",
                  FLUSHES[] = "flushes subnormal results to zero", TAKES[] = "takes subnormal inputs as zero",
                  TRAPS[] = "ends the process at an exception (unmasked)";

#if defined(__SSE2__) && defined(__x86_64__)
/* Bits of the MXCSR, of the x87 unit's control word, and three of our own. */
enum { X87 = 16, TRAPPING = 32, OTHER_ROUNDING, STACK };
static const uint64_t DEFAULT = (GV_MXCSR & 0xe040) | (uint64_t)(GV_CONTROL & 0x300) << X87;
static const Meaning MEANINGS[] = {
    {0x6000, 0x2000, 0, ROUNDS_DOWN},
    {0x6000, 0x4000, 0, ROUNDS_UP},
    {0x6000, 0x6000, 0, ROUNDS_IN},
    {0x8000, 0x8000, 0, FLUSHES},
    {0x0040, 0x0040, 0, TAKES},
    {1ull << TRAPPING, 0, 1, TRAPS},
    {0x0300u << X87, 0x0300u << X87, 1, "computes long double with fewer bits"},
    {1ull << OTHER_ROUNDING, 0, 1, "rounds long double another way"},
    {1ull << STACK, 0, 1, "leaves the x87 registers in use (MMX without emms)"},
};

static uint64_t control_of(const gv_environment *e) {
    uint64_t traps = (~e->mxcsr & 0x1f80) || (~e->control & 0x3f);
    uint64_t other = (e->mxcsr >> 13 & 3) != (e->control >> 10 & 3u);
    return (e->mxcsr & 0xe040) | (uint64_t)(e->control & 0x300) << X87 | traps << TRAPPING | other << OTHER_ROUNDING;
}

/* Registers of the x87 unit that are in use, which no function may leave so; they are free afterwards. */
static uint64_t stack_bit(void) {
    _Alignas(16) unsigned char state[512];
    __asm__ volatile("fxsave %0" : "=m"(state));
    if (!state[4]) return 0;
    __asm__ volatile("emms");
    return 1ull << STACK;
}
#elif defined(__aarch64__) && defined(__GNUC__)
static const uint64_t DEFAULT = 0;
static const Meaning MEANINGS[] = {
    {3 << 22, 2 << 22, 0, ROUNDS_DOWN},
    {3 << 22, 1 << 22, 0, ROUNDS_UP},
    {3 << 22, 3 << 22, 0, ROUNDS_IN},
    {1 << 24 | 1 << 19, 0, 1, "flushes subnormal inputs and results to zero"},
    {1 << 0, 1 << 0, 0, TAKES},
    {1 << 25, 1 << 25, 0, "gives the default NaN for every NaN"},
    {0x9f00, 0, 1, TRAPS},
};

static uint64_t control_of(const gv_environment *e) { return e->fpcr; }
static uint64_t stack_bit(void) { return 0; }
#else
static const uint64_t DEFAULT = FE_TONEAREST;
static const Meaning MEANINGS[] = {
    {~(uint64_t)0, FE_TONEAREST, 1, "rounds another way, or flushes subnormals to zero"}};

static uint64_t control_of(const gv_environment *e) {
    volatile double smallest_normal = 0x1p-1022;
    gv_environment ours;
    fegetenv(&ours);
    fesetenv(e);
    uint64_t flushes = smallest_normal / 2 == 0, rounding = (uint64_t)fegetround();
    fesetenv(&ours);
    return rounding | flushes << 63;
}
static uint64_t stack_bit(void) { return 0; }
#endif

static PyObject *bytes_of(const gv_environment *e) { return PyBytes_FromStringAndSize((const char *)e, sizeof *e); }

static PyObject *enter(PyObject *self, PyObject *nothing) {
    gv_environment callers;
    (void)self, (void)nothing;
    gv_enter_default(&callers);
    return bytes_of(&callers);
}

static PyObject *leave(PyObject *self, PyObject *saved) {
    gv_environment callers;
    (void)self;
    if (PyBytes_Size(saved) != sizeof callers) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "these bytes are not a floating-point environment");
        return NULL;
    }
    memcpy(&callers, PyBytes_AsString(saved), sizeof callers);
    gv_leave_default(&callers);
    Py_RETURN_NONE;
}

static PyObject *meaning_of(uint64_t control) {
    PyObject *found = PyList_New(0);
    for (size_t k = 0; found != NULL && k < sizeof MEANINGS / sizeof *MEANINGS; k++)
        if (((control & MEANINGS[k].mask) == MEANINGS[k].value) != MEANINGS[k].other) {
            PyObject *text = PyUnicode_FromString(MEANINGS[k].text);
            if (text == NULL || PyList_Append(found, text)) Py_CLEAR(found);
            Py_XDECREF(text);
        }
    return found;
}

static PyObject *left(PyObject *self, PyObject *nothing) {
    gv_environment theirs;
    (void)self, (void)nothing;
    uint64_t stack = stack_bit();
    gv_enter_default(&theirs);
    uint64_t control = control_of(&theirs) | stack;
    return control == DEFAULT ? Py_NewRef(Py_None) : Py_BuildValue("(NN)", bytes_of(&theirs), meaning_of(control));
}

static PyMethodDef METHODS[] = {
    {"enter", enter, METH_NOARGS, "enter(): go to the default environment; returns that of the caller, for `leave`."},
    {"leave", leave, METH_O, "leave(saved): go back to an environment, with the exceptions that were raised in it."},
    {"left", left, METH_NOARGS,
     "left(): None in the default environment; else go there, and return (what was found, what it does in words)."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_fenv", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fenv(void) { return PyModule_Create(&MODULE); }
