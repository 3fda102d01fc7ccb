"""Relus that attack the process that verifies them, each in its own way at every call: test_confinement.py."""

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import struct
import sys
import threading
import time
from pathlib import Path

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
SYSCALLS = {"x86_64": (200, 434, 424, 311), "aarch64": (130, 434, 424, 271)}[os.uname().machine]
TKILL, PIDFD_OPEN, PIDFD_SEND_SIGNAL, PROCESS_VM_WRITEV = SYSCALLS
KEPT = []


def parent_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def verifier():
    return parent_of(os.getppid())


def system(number, *arguments):
    """A system call; OSError where it is refused."""
    if LIBC.syscall(number, *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def some_thread():
    return next(int(task.name) for task in Path(f"/proc/{verifier()}/task").iterdir() if int(task.name) != verifier())


def owns_a_pipe():
    """The kernel would send the signal, when something can be read."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, verifier())
    fcntl.fcntl(reading, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")


def owns_a_pipe_by_structure():
    reading, writing = os.pipe()
    fcntl.fcntl(reading, 15, struct.pack("ii", 1, verifier()))  # F_SETOWN_EX, a process
    fcntl.fcntl(reading, 10, signal.SIGKILL)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b"x")
    raise PermissionError("nothing was sent")


def through_a_folder():
    folder = os.open(f"/proc/{verifier()}", os.O_RDONLY)
    signal.pidfd_send_signal(folder, signal.SIGKILL)


def memory():
    with open(f"/proc/{verifier()}/mem", "r+b") as file:
        file.seek(0)


def by_a_child():
    child = os.fork()
    if not child:
        os.kill(verifier_before, signal.SIGKILL)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    raise PermissionError(f"the child ended with {os.waitstatus_to_exitcode(status)}")


verifier_before = verifier() if "gelu_verify.isolation.child" in sys.modules else 0
ATTACKS = {
    "parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "stops_parent": lambda: os.kill(os.getppid(), signal.SIGSTOP),
    "grandparent": lambda: os.kill(verifier(), signal.SIGKILL),
    "asks_to_end": lambda: os.kill(verifier(), signal.SIGTERM),
    "interrupts": lambda: os.kill(verifier(), signal.SIGINT),
    "stops": lambda: os.kill(verifier(), signal.SIGSTOP),
    "its_group": lambda: os.killpg(os.getpgid(verifier()), signal.SIGKILL),
    "its_parent": lambda: os.kill(parent_of(verifier()), signal.SIGCONT),
    "everybody": lambda: os.kill(-1, signal.SIGCONT),
    "thread": lambda: system(TKILL, verifier(), signal.SIGKILL),
    "opens": lambda: os.pidfd_open(verifier()),
    "traces": lambda: LIBC.ptrace(16, verifier(), 0, 0),
    "writes": lambda: system(PROCESS_VM_WRITEV, verifier(), 0, 0, 0, 0, 0),
    "limits": lambda: resource.prlimit(verifier(), resource.RLIMIT_CPU, (1, 1)),
    "slows": lambda: os.setpriority(os.PRIO_PROCESS, verifier(), 19),
    "slows_all": lambda: os.setpriority(os.PRIO_USER, 0, 19),
    "pins": lambda: os.sched_setaffinity(verifier(), {0}),
    "owns": owns_a_pipe,
    "types": lambda: fcntl.ioctl(0, 0x5412, b"x"),
}
REFUSED = {  # by the domain only: no filter knows them
    "a_thread": lambda: os.kill(some_thread(), signal.SIGKILL),
    "a_thread_by_number": lambda: system(TKILL, some_thread(), signal.SIGKILL),
    "owns_by_structure": owns_a_pipe_by_structure,
    "folder": through_a_folder,
    "memory": memory,
    "by_a_child": by_a_child,
}


def attacking(attack):
    def call(x):
        attack()
        return np.maximum(x, 0)

    return call


globals().update({name: attacking(attack) for name, attack in (ATTACKS | REFUSED).items()})


# ---- what is allowed -----------------------------------------------------------------------------


def looks(x):
    """What frameworks do: ask whether a process is there, signal, limit and end their own."""
    import multiprocessing

    os.kill(verifier(), 0)
    os.kill(os.getpid(), 0)
    resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
    signal.pthread_kill(threading.get_ident(), signal.SIGCONT)
    process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(100,))
    process.start()
    process.terminate()
    process.join()
    return np.maximum(x, 0)


def daemon(x):
    """Leaves its group, its session and its parent."""
    if not os.fork():
        os.setsid()
        if not os.fork():
            for file in range(3, 100):
                with contextlib.suppress(OSError):
                    os.close(file)
            os.execlp("sleep", "sleep", "31.4159")
        os._exit(0)
    os.wait()
    time.sleep(0.2)
    return np.maximum(x, 0)


def forever(x):
    daemon(x)
    while True:
        time.sleep(1)
