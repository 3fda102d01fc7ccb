"""Whether other threads run while something is computed: whether it releases the interpreter lock."""

import sys
import threading


def ticks_during(compute):
    """How often this thread goes on while another one computes a hundred times."""
    ticks, done = 0, threading.Event()

    def work():
        for _ in range(100):
            compute()
        done.set()

    worker, old = threading.Thread(target=work), sys.getswitchinterval()
    sys.setswitchinterval(100)  # only a released GIL lets this thread go on
    try:
        worker.start()
        while not done.is_set():
            ticks += 1
            done.wait(1e-4)
    finally:
        sys.setswitchinterval(old)
        worker.join()
    return ticks
