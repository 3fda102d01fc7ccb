/* What keeps somebody else's code from the process that verifies it: a filter of system calls (seccomp) ends who names
   that process, or one that it descends from, to signal, trace or limit it; a domain (Landlock) refuses what no filter
   can know, such as one of its threads. And a keeper, which outlives the code only to end all that it started. */
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

/* ---- the filter ---- */

/* One system call that names a process (argument `who`) or, where `groups`, a group by a negative number.
   It is allowed where argument `idle` is zero (-1: none), and looked at where argument `which` is `value` (-1: none). */
typedef struct {
    int number, who, groups, idle, which;
    uint32_t value;
} Rule;

static const Rule RULES[] = {
    {SYS_kill, 0, 1, 1, -1, 0},
    {SYS_tkill, 0, 0, 1, -1, 0},
    {SYS_tgkill, 0, 0, 2, -1, 0},
    {SYS_rt_sigqueueinfo, 0, 0, 1, -1, 0},
    {SYS_rt_tgsigqueueinfo, 0, 0, 2, -1, 0},
    {SYS_fcntl, 2, 1, -1, 1, F_SETOWN},
    {SYS_ptrace, 1, 0, -1, -1, 0},
    {SYS_process_vm_writev, 0, 0, -1, -1, 0},
    {SYS_prlimit64, 0, 0, 2, -1, 0},
    {SYS_setpriority, 1, 0, -1, 0, PRIO_PROCESS},
    {SYS_sched_setaffinity, 0, 0, -1, -1, 0},
    {SYS_sched_setscheduler, 0, 0, -1, -1, 0},
    {SYS_sched_setparam, 0, 0, -1, -1, 0},
    {SYS_sched_setattr, 0, 0, -1, -1, 0},
#ifdef SYS_pidfd_open
    {SYS_pidfd_open, 0, 0, -1, -1, 0},
#endif
};

/* Who asks whether such a process is there (signal 0) is told yes: the domain would refuse that too. */
static const Rule ASKS = {SYS_kill, 0, 1, -1, 1, 0};

/* System calls that are never needed here: argument `which` is `value` (-1: always). */
static const Rule NEVER[] = {
    {SYS_ioctl, -1, 0, -1, 1, TIOCSTI},     /* types into a terminal */
    {SYS_ioctl, -1, 0, -1, 1, TIOCVHANGUP}, /* takes a terminal away */
    {SYS_vhangup, -1, 0, -1, -1, 0},
    {SYS_setpriority, -1, 0, -1, 0, PRIO_USER}, /* all processes of a user */
    {SYS_reboot, -1, 0, -1, -1, 0},
};

/* A rule is shorter than the 255 instructions of a jump. */
enum { MOST = 4096, PROCESSES = 48, TRAPPED = 1 };

typedef struct {
    struct sock_filter code[MOST];
    unsigned short length;
} Program;

static void add(Program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    if (p->length < MOST)
        p->code[p->length++] = (struct sock_filter){code, yes, no, k};
}

static void load(Program *p, size_t offset) { add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

static void load_argument(Program *p, int index, size_t half)
{
    load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)index + half); /* little-endian, as both machines are */
}

/* End here, with that answer, where what was loaded is `value`. */
static void answer_if(Program *p, uint32_t value, uint32_t answer)
{
    add(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(p, BPF_RET | BPF_K, answer, 0, 0);
}

/* One rule, from the number of a system call to the same: others jump over it. */
static void add_rule(Program *p, const Rule *r, uint32_t answer, const int32_t *processes, size_t count,
                     size_t group_count)
{
    const uint16_t is = BPF_JMP | BPF_JEQ | BPF_K;
    unsigned short start = p->length, which = 0, idle = 0;
    add(p, is, (uint32_t)r->number, 0, 0);
    if (r->which >= 0) {
        load_argument(p, r->which, 0);
        which = p->length;
        add(p, is, r->value, 0, 0);
    }
    if (r->idle >= 0) { /* 64 bits, for it may be an address */
        load_argument(p, r->idle, 0);
        add(p, is, 0, 0, 2);
        load_argument(p, r->idle, 4);
        idle = p->length;
        add(p, is, 0, 0, 0);
    }
    if (r->who < 0)
        add(p, BPF_RET | BPF_K, answer, 0, 0);
    else {
        load_argument(p, r->who, 0);
        for (size_t k = 0; k < count; k++) answer_if(p, (uint32_t)processes[k], answer);
        for (size_t k = count; r->groups && k < count + group_count; k++) answer_if(p, (uint32_t)-processes[k], answer);
        if (r->groups)
            answer_if(p, (uint32_t)-1, answer); /* all that there are */
    }
    if (which)
        p->code[which].jf = (uint8_t)(p->length - which - 1);
    if (idle)
        p->code[idle].jt = (uint8_t)(p->length - idle - 1);
    load(p, offsetof(struct seccomp_data, nr));
    p->code[start].jf = (uint8_t)(p->length - start - 1);
}

static int filter(const int32_t *processes, size_t count, size_t group_count)
{
    static Program p;
    const uint32_t trap = SECCOMP_RET_TRAP | TRAPPED;
    p.length = 0;
    load(&p, offsetof(struct seccomp_data, arch));
    add(&p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    load(&p, offsetof(struct seccomp_data, nr));
    add_rule(&p, &ASKS, SECCOMP_RET_ERRNO, processes, count, group_count);
    for (size_t k = 0; k < sizeof RULES / sizeof *RULES; k++)
        add_rule(&p, &RULES[k], trap, processes, count, group_count);
    for (size_t k = 0; k < sizeof NEVER / sizeof *NEVER; k++)
        add_rule(&p, &NEVER[k], trap, processes, count, group_count);
    add(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {p.length, p.code};
    return ARCHITECTURE && p.length < MOST &&
           !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program); /* as fast as ever */
}

/* ---- the domain ---- */

/* No signal leaves it, and nothing outside is traced or has its memory opened: Linux 6.12. */
static int enter_domain(void)
{
    enum { CREATE = 444, RESTRICT = 446, SIGNALS = 1 << 1, SIGNALS_SINCE = 6 };
    struct {
        uint64_t files, network, scoped;
    } rules = {0, 0, SIGNALS};
    if (syscall(CREATE, NULL, 0, 1) < SIGNALS_SINCE)
        return 0;
    int made = (int)syscall(CREATE, &rules, sizeof rules, 0), entered;
    if (made < 0)
        return 0;
    entered = !syscall(RESTRICT, made, 0);
    close(made);
    return entered;
}

static PyObject *confine(PyObject *self, PyObject *args)
{
    PyObject *lists[2];
    int32_t processes[2 * PROCESSES];
    size_t counts[2] = {0, 0}, total = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO", &lists[0], &lists[1]))
        return NULL;
    for (int list = 0; list < 2; list++) {
        Py_ssize_t size = PyList_Size(lists[list]);
        if (size < 0)
            return NULL;
        for (Py_ssize_t k = 0; k < size && k < PROCESSES; k++, counts[list]++)
            processes[total++] = (int32_t)PyLong_AsLong(PyList_GetItem(lists[list], k));
    }
    if (PyErr_Occurred())
        return NULL;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int domain = enter_domain(), filtered = filter(processes, counts[0], counts[1]);
    return Py_BuildValue("(NN)", PyBool_FromLong(filtered), PyBool_FromLong(domain));
}

/* ---- the keeper ---- */

static PyObject *adopt(PyObject *self, PyObject *nothing)
{
    (void)self, (void)nothing;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    Py_RETURN_NONE;
}

static PyObject *die_with_parent(PyObject *self, PyObject *parent)
{
    (void)self;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != (pid_t)PyLong_AsLong(parent))
        _exit(1);
    Py_RETURN_NONE;
}

/* End every child; the children of one that ends become ours. Where the system lists none, the worker's group. */
static void end_children(int worker)
{
    char path[64], text[4096];
    int listed;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    do {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
        listed = file >= 0;
        if (listed)
            close(file);
        else
            kill(-worker, SIGKILL);
        text[size > 0 ? size : 0] = 0;
        char *next = text;
        for (long child; (child = strtol(next, &next, 10)) > 0;) kill((pid_t)child, SIGKILL);
    } while (listed && (waitpid(-1, NULL, 0) > 0 || errno == EINTR));
}

/* End as somebody else did. */
static void end_as(int status)
{
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    sigset_t all;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(1);
}

static PyObject *keep(PyObject *self, PyObject *args)
{
    int worker, lifeline, status = 0;
    sigset_t watched;
    (void)self;
    if (!PyArg_ParseTuple(args, "ii", &worker, &lifeline))
        return NULL;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    signal(SIGINT, SIG_IGN);
    struct pollfd files[2] = {{lifeline, POLLIN, 0}, {signalfd(-1, &watched, SFD_CLOEXEC), POLLIN, 0}};
    for (int ended = 0;;) {
        for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0 && !(ended = child == worker);)
            ;
        if (ended)
            break;
        files[0].revents = files[1].revents = 0;
        struct signalfd_siginfo found;
        if (poll(files, 2, -1) > 0 &&
            (files[0].revents || (read(files[1].fd, &found, sizeof found) > 0 && found.ssi_signo == SIGTERM))) {
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
     "of the two this system has."},
    {"adopt", adopt, METH_NOARGS, "adopt(): orphans among our descendants become our children."},
    {"die_with_parent", die_with_parent, METH_O, "die_with_parent(parent): end when that process, our parent, does."},
    {"keep", keep, METH_VARARGS,
     "keep(worker, lifeline): wait until it ends, or the other end of the pipe closes, or SIGTERM; then end all "
     "children, and as it did."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_confinement", NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__confinement(void)
{
    return PyModule_Create(&MODULE);
}
