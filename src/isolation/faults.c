/* A record of the signal that ends a process with somebody else's code: which signal, where, and how much memory the
   process had, written to memory that its parent reads. A handler in Python would need the interpreter, which may be
   what is broken. And the state of the process that a call may change. Tests: tests/isolation/test_isolation.py. */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <ucontext.h>
#endif

/* The record of isolation/process.py, field by field. */
typedef struct {
    int32_t worker; /* the process that runs the code; written by gelu_verify/isolation/confinement.py */
    int32_t signal, code;
    int32_t access; /* 1 read, 2 write, 0 unknown; SIGSYS: TRAPPED of confinement.c where its filter refused a call */
    uint64_t address;
    int32_t statm_size;
    char statm[240]; /* /proc/self/statm as it was */
} Fault;

enum { STACK = 1 << 16, WRITE_FAULT = 2 /* a bit of the error code of a page fault */ };

static Fault *fault;

static int32_t access_of(int signum, void *context) {
#if defined(__x86_64__) && defined(__linux__)
    if (signum == SIGSEGV) return ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT ? 2 : 1;
#endif
    (void)signum, (void)context;
    return 0;
}

/* Only calls that are safe in a signal handler. */
static void record_fault(int signum, siginfo_t *info, void *context) {
    if (!__atomic_exchange_n(&fault->signal, signum, __ATOMIC_SEQ_CST)) { /* the first of several threads */
        fault->code = info->si_code;
        fault->address = (uint64_t)(uintptr_t)info->si_addr;
        fault->access = signum == SIGSYS ? info->si_errno : access_of(signum, context);
        int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        if (file >= 0) fault->statm_size = (int32_t)read(file, fault->statm, sizeof fault->statm);
    }
    signal(signum, SIG_DFL);
    if (info->si_code <= 0 || signum == SIGSYS) /* sent, not caused: returning would not raise it again */
        raise(signum);
}

static PyObject *watch(PyObject *self, PyObject *address) {
    static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    struct sigaction action = {.sa_sigaction = record_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    (void)self;
    fault = PyLong_AsVoidPtr(address);
    if (fault == NULL) return NULL;
    for (size_t k = 0; k < sizeof SIGNALS / sizeof *SIGNALS; k++) sigaction(SIGNALS[k], &action, NULL);
    Py_RETURN_NONE;
}

static PyObject *own_stack(PyObject *self, PyObject *nothing) {
    void *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory, .ss_size = STACK};
    (void)self, (void)nothing;
    if (memory == MAP_FAILED || sigaltstack(&stack, NULL)) return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

/* What a call may change for later calls: the caller compares it with what it was before. */
static PyObject *state(PyObject *self, PyObject *nothing) {
    void *handlers[32] = {NULL};
    struct itimerval timers[3];
    static const int RESOURCES[] = {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE};
    struct rlimit limits[sizeof RESOURCES / sizeof *RESOURCES]; /* not RLIMIT_DATA, which our parent sets */
    sigset_t blocked;
    (void)self, (void)nothing;
    for (int signum = 1; signum < 32; signum++) {
        struct sigaction action;
        if (!sigaction(signum, NULL, &action)) handlers[signum] = (void *)action.sa_handler;
    }
    memset(timers, 0, sizeof timers);
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        getitimer(which, &timers[which]);
        timers[which].it_value = (struct timeval){timers[which].it_value.tv_sec || timers[which].it_value.tv_usec, 0};
    }
    memset(limits, 0, sizeof limits);
    for (size_t k = 0; k < sizeof RESOURCES / sizeof *RESOURCES; k++) getrlimit(RESOURCES[k], &limits[k]);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    return Py_BuildValue("(y#y#y#y#si)", handlers, (Py_ssize_t)sizeof handlers, &blocked, (Py_ssize_t)8, timers,
                         (Py_ssize_t)sizeof timers, limits, (Py_ssize_t)sizeof limits, setlocale(LC_ALL, NULL),
                         getpriority(PRIO_PROCESS, 0));
}

static PyMethodDef METHODS[] = {
    {"watch", watch, METH_O, "watch(address): record fatal signals at that address before they end this process."},
    {"own_stack", own_stack, METH_NOARGS, "own_stack(): faults of this thread are recorded if its stack is full."},
    {"state", state, METH_NOARGS,
     "state(): signal handlers, blocked signals, timers, limits, locale, priority, to be compared."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_faults", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__faults(void) { return PyModule_Create(&MODULE); }
