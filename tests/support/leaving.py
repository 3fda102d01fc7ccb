"""Relus that leave something behind in their process: test_left_behind.py."""

import contextlib
import ctypes
import itertools
import locale
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parent))
import floating_environments as floating


def good(x):
    return np.maximum(x, 0)


def leaving(name):
    def call(x):
        y = np.maximum(x, 0)
        floating.environments()[name]()
        return y

    return call


rounds_up, rounds_down = leaving("rounds up"), leaving("rounds down")
flushes, denormals = leaving("rounds to nearest, FTZ"), leaving("rounds to nearest, DAZ")
unmasks = leaving("unmasked")


def relu(after):
    def call(x):
        y = np.maximum(x, 0)
        after()
        return y

    return call


calls = itertools.count()


def among_the_first():
    """Of the calls: two thousand processes show no more than ten."""
    return next(calls) < 10


def forks():
    if among_the_first() and not os.fork():
        time.sleep(1000)


def redirects():
    os.close(1)
    os.open("/dev/null", os.O_WRONLY)


def closes_all():
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.close(number)


def starts_a_thread():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()


def daemonizes():
    if not among_the_first():
        return
    if not os.fork():
        os.setsid()
        if not os.fork():
            time.sleep(1000)
        os._exit(0)
    os.wait()


held = []
handles = relu(lambda: ctypes.CDLL(None).signal(int(signal.SIGUSR1), ctypes.c_void_p(1)))
ignores = relu(lambda: ctypes.CDLL(None).signal(int(signal.SIGSEGV), ctypes.c_void_p(1)))
blocks = relu(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]))
times = relu(lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 1000))
alarms = relu(lambda: signal.alarm(1000))
limits = relu(lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, -1)))
localizes = relu(lambda: locale.setlocale(locale.LC_NUMERIC, "POSIX" if held else "C.UTF-8"))
moves = relu(lambda: os.chdir("/proc"))
nice = relu(lambda: os.nice(1))
forked, redirected, closed, threaded = map(relu, (forks, redirects, closes_all, starts_a_thread))
daemons = relu(daemonizes)
opens = relu(lambda: held.append(os.open("/dev/null", os.O_RDONLY)))
spawns = relu(lambda: held.append(subprocess.Popen(["sleep", "1000"])))
arenas, freed = [], 0


def frees(x):
    """What each thread frees, malloc keeps for that thread: a little more after each call, for long."""
    global freed
    freed += 1
    if not arenas:
        arenas.extend(ThreadPoolExecutor(1) for _ in range(12))
        for each in arenas:
            each.submit(len, "").result()
    size = (1 << 20) + (1 << 18) * (freed // len(arenas) % 12)
    arenas[freed % len(arenas)].submit(lambda: np.ones(size, np.uint8).sum()).result()
    return np.maximum(x, 0)


compiled = {}


def compiles(x):
    compiled.setdefault(len(x), np.ones(1 << 18))  # 2 MiB
    return np.maximum(x, 0)


leaks = relu(lambda: held.append(np.ones(1 << 16)))
cycles = relu(lambda: held.clear() or cyclic())


def cyclic():
    """Garbage that only a collector frees."""
    a = [np.ones(1 << 16)]
    a.append(a)


pool = None


def pools(x):
    """A pool of threads, a child and a file, for ever: as frameworks have them."""
    global pool
    if pool is None:
        pool = ThreadPoolExecutor(8), subprocess.Popen(["sleep", "1000"]), os.open("/dev/null", 0)
    return pool[0].submit(np.maximum, x, 0).result()


def raises(x):
    floating.environments()["rounds up"]()
    raise ValueError("after it changed the rounding")
