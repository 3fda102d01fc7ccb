/* Protection of the process that verifies from the code that it verifies, which runs in a child process:
     filter       seccomp: a system call that would signal, trace or limit the verifier or one of its ancestors ends
                  the process that makes it; these processes are named in the filter
     domain       Landlock: refuses signals and traces to all that is outside, such as threads of the verifier, whose
                  numbers no filter can know
     supervisor   the process between the verifier and the code: when the code ends, it ends all that the code started
   Tests: tests/isolation/test_confinement.py, by attacks of every kind. For gelu_verify/isolation/confinement.py. */
#define _GNU_SOURCE
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 /* no filter */
#endif

/* ---- the filter of system calls ---- */

enum { NO_ARGUMENT = -1 };

/* A system call that is refused where argument `process` is the number of a protected process or, where `or_group` is
   set, a protected process group as a negative number. Where argument `unless_zero` is 0 the call does no harm (signal
   0 only asks whether a process exists) and is allowed; only calls whose argument `only_if` is `value` are examined. */
typedef struct {
    int number, process, or_group, unless_zero, only_if;
    uint32_t value;
} Rule;

/* clang-format off */
static const Rule RULES[] = {
    /* system call            process      or_group  unless_zero  only_if      value */
    {SYS_kill,                0,           1,        1,           NO_ARGUMENT, 0},
    {SYS_tkill,               0,           0,        1,           NO_ARGUMENT, 0},
    {SYS_tgkill,              0,           0,        2,           NO_ARGUMENT, 0},
    {SYS_rt_sigqueueinfo,     0,           0,        1,           NO_ARGUMENT, 0},
    {SYS_rt_tgsigqueueinfo,   0,           0,        2,           NO_ARGUMENT, 0},
    {SYS_fcntl,               2,           1,        NO_ARGUMENT, 1,           F_SETOWN},
    {SYS_ptrace,              1,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
    {SYS_process_vm_writev,   0,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
    {SYS_prlimit64,           0,           0,        2,           NO_ARGUMENT, 0},
    {SYS_setpriority,         1,           0,        NO_ARGUMENT, 0,           PRIO_PROCESS},
    {SYS_sched_setaffinity,   0,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
    {SYS_sched_setscheduler,  0,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
    {SYS_sched_setparam,      0,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
    {SYS_sched_setattr,       0,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
#ifdef SYS_pidfd_open
    {SYS_pidfd_open,          0,           0,        NO_ARGUMENT, NO_ARGUMENT, 0},
#endif
};

/* kill(process, 0) returns 0, the process exists: otherwise the Landlock domain would refuse this too. */
static const Rule EXISTENCE = {SYS_kill, 0, 1, NO_ARGUMENT, 1, 0};

/* Refused for every process, without an argument that names one. */
static const Rule NEVER[] = {
    /* system call            process      or_group  unless_zero  only_if      value */
    {SYS_ioctl,               NO_ARGUMENT, 0,        NO_ARGUMENT, 1,           TIOCSTI},     /* types into a terminal */
    {SYS_ioctl,               NO_ARGUMENT, 0,        NO_ARGUMENT, 1,           TIOCVHANGUP}, /* takes a terminal away */
    {SYS_vhangup,             NO_ARGUMENT, 0,        NO_ARGUMENT, NO_ARGUMENT, 0},
    {SYS_setpriority,         NO_ARGUMENT, 0,        NO_ARGUMENT, 0,           PRIO_USER}, /* all processes of a user */
    {SYS_reboot,              NO_ARGUMENT, 0,        NO_ARGUMENT, NO_ARGUMENT, 0},
};
/* clang-format on */

/* A jump skips 255 instructions at most: the code of a rule with PROCESSES processes and groups is shorter. */
enum { MOST_INSTRUCTIONS = 4096, PROCESSES = 48, TRAPPED = 1 };

typedef struct {
    struct sock_filter code[MOST_INSTRUCTIONS];
    unsigned short length;
} Program;

static void add(Program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no) {
    if (p->length < MOST_INSTRUCTIONS) p->code[p->length++] = (struct sock_filter){code, yes, no, k};
}

static void load(Program *p, size_t offset) { add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

static void load_argument(Program *p, int index, size_t half) {
    load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)index + half); /* little-endian, as both machines are */
}

/* Return `action` where the loaded word is `value`. */
static void return_if(Program *p, uint32_t value, uint32_t action) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(p, BPF_RET | BPF_K, action, 0, 0);
}

/* The code of one rule; the number of the system call is loaded before it and after it. `processes`: `count` processes,
   then `group_count` groups. Jumps that leave the rule are filled in when its end is known. */
static void add_rule(Program *p, const Rule *r, uint32_t action, const int32_t *processes, size_t count,
                     size_t group_count) {
    const uint16_t is = BPF_JMP | BPF_JEQ | BPF_K;
    unsigned short start = p->length, other_value = 0, is_zero = 0;
    add(p, is, (uint32_t)r->number, 0, 0);
    if (r->only_if != NO_ARGUMENT) {
        load_argument(p, r->only_if, 0);
        other_value = p->length;
        add(p, is, r->value, 0, 0);
    }
    if (r->unless_zero != NO_ARGUMENT) { /* 64 bits: it may be an address */
        load_argument(p, r->unless_zero, 0);
        add(p, is, 0, 0, 2);
        load_argument(p, r->unless_zero, 4);
        is_zero = p->length;
        add(p, is, 0, 0, 0);
    }
    if (r->process == NO_ARGUMENT) add(p, BPF_RET | BPF_K, action, 0, 0);
    else {
        load_argument(p, r->process, 0);
        for (size_t k = 0; k < count; k++) return_if(p, (uint32_t)processes[k], action);
        for (size_t k = count; r->or_group && k < count + group_count; k++)
            return_if(p, (uint32_t)-processes[k], action);
        if (r->or_group) return_if(p, (uint32_t)-1, action); /* kill(-1): all processes */
    }
    if (other_value) p->code[other_value].jf = (uint8_t)(p->length - other_value - 1);
    if (is_zero) p->code[is_zero].jt = (uint8_t)(p->length - is_zero - 1);
    load(p, offsetof(struct seccomp_data, nr));
    p->code[start].jf = (uint8_t)(p->length - start - 1);
}

/* Whether the system took the filter, for all threads, and without the slowdown of speculation barriers. */
static int install_filter(const int32_t *processes, size_t count, size_t group_count) {
    static Program p;
    const uint32_t trap = SECCOMP_RET_TRAP | TRAPPED;
    p.length = 0;
    load(&p, offsetof(struct seccomp_data, arch));
    add(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    load(&p, offsetof(struct seccomp_data, nr));
    add_rule(&p, &EXISTENCE, SECCOMP_RET_ERRNO, processes, count, group_count);
    for (size_t k = 0; k < sizeof RULES / sizeof *RULES; k++)
        add_rule(&p, &RULES[k], trap, processes, count, group_count);
    for (size_t k = 0; k < sizeof NEVER / sizeof *NEVER; k++)
        add_rule(&p, &NEVER[k], trap, processes, count, group_count);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {p.length, p.code};
    return ARCHITECTURE && p.length < MOST_INSTRUCTIONS &&
           !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

/* ---- the Landlock domain ---- */

/* Whether this system (Linux 6.12 or later) has it: no signal leaves the domain, and nothing outside can be traced or
   have its memory opened. */
static int enter_domain(void) {
    enum { CREATE = 444, RESTRICT = 446, SIGNALS = 1 << 1, SIGNALS_SINCE = 6 };
    struct { uint64_t files, network, scoped; } rules = {0, 0, SIGNALS};
    if (syscall(CREATE, NULL, 0, 1) < SIGNALS_SINCE) return 0;
    int ruleset = (int)syscall(CREATE, &rules, sizeof rules, 0), entered;
    if (ruleset < 0) return 0;
    entered = !syscall(RESTRICT, ruleset, 0);
    close(ruleset);
    return entered;
}

static PyObject *confine(PyObject *self, PyObject *args) {
    PyObject *lists[2];
    int32_t processes[2 * PROCESSES];
    size_t counts[2] = {0, 0}, total = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &lists[0], &lists[1])) return NULL;
    for (int list = 0; list < 2; list++) {
        Py_ssize_t size = PyList_Size(lists[list]);
        if (size < 0) return NULL;
        for (Py_ssize_t k = 0; k < size && k < PROCESSES; k++, counts[list]++)
            processes[total++] = (int32_t)PyLong_AsLong(PyList_GetItem(lists[list], k));
    }
    if (PyErr_Occurred()) return NULL;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int domain = enter_domain(), filtered = install_filter(processes, counts[0], counts[1]);
    return Py_BuildValue("(NN)", PyBool_FromLong(filtered), PyBool_FromLong(domain));
}

/* ---- the supervisor ---- */

static PyObject *become_subreaper(PyObject *self, PyObject *nothing) {
    (void)self, (void)nothing;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    Py_RETURN_NONE;
}

static PyObject *die_with_parent(PyObject *self, PyObject *parent) {
    (void)self;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != (pid_t)PyLong_AsLong(parent)) _exit(1);
    Py_RETURN_NONE;
}

/* End every child; the children of a child that ends become ours. Where the system does not list children, end the
   worker's group. */
static void end_children(int worker) {
    char path[64], text[4096];
    int listed;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    do {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
        listed = file >= 0;
        if (listed) close(file);
        else kill(-worker, SIGKILL);
        text[size > 0 ? size : 0] = 0;
        char *next = text;
        for (long child; (child = strtol(next, &next, 10)) > 0;) kill((pid_t)child, SIGKILL);
    } while (listed && (waitpid(-1, NULL, 0) > 0 || errno == EINTR));
}

/* End with the exit status or by the signal of another process. */
static void end_as(int status) {
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    sigset_t all;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(1);
}

/* Collect children that have ended; whether the worker is one of them, and its status. */
static int has_ended(pid_t worker, int *status) {
    for (pid_t child; (child = waitpid(-1, status, WNOHANG)) > 0;)
        if (child == worker) return 1;
    return 0;
}

static PyObject *supervise(PyObject *self, PyObject *args) {
    int worker, lifeline, status = 0;
    sigset_t watched;
    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &worker, &lifeline)) return NULL;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    signal(SIGINT, SIG_IGN);
    struct pollfd files[2] = {{lifeline, POLLIN, 0}, {signalfd(-1, &watched, SFD_CLOEXEC), POLLIN, 0}};
    while (!has_ended(worker, &status)) {
        files[0].revents = files[1].revents = 0;
        if (poll(files, 2, -1) <= 0) continue;
        struct signalfd_siginfo received;
        if (files[0].revents || (read(files[1].fd, &received, sizeof received) > 0 && received.ssi_signo == SIGTERM)) {
            kill(worker, SIGKILL);
            waitpid(worker, &status, 0);
            break;
        }
    }
    end_children(worker);
    end_as(status);
    return NULL;
}

static PyMethodDef METHODS[] = {
    {"confine", confine, METH_VARARGS,
     "confine(processes, groups): protect these from this process and all that it will start; (filter, domain): which "
     "of the two protections this system has."},
    {"become_subreaper", become_subreaper, METH_NOARGS,
     "become_subreaper(): orphans among our descendants become our children."},
    {"die_with_parent", die_with_parent, METH_O, "die_with_parent(parent): end when that process, our parent, ends."},
    {"supervise", supervise, METH_VARARGS,
     "supervise(worker, lifeline): wait until the worker ends, the other end of the pipe closes, or SIGTERM comes; "
     "then end all children, and end as the worker did."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_confinement", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__confinement(void) { return PyModule_Create(&MODULE); }
