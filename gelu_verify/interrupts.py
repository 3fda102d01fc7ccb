"""Ctrl-C, distinguished from a KeyboardInterrupt that an implementation raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

interrupted = threading.Event()
"""Set by Ctrl-C: KeyboardInterrupt alone is lost where it meets a destructor, and renamed where it meets an import."""
_noting = threading.Event()


@contextmanager
def noting_interrupts() -> Iterator[None]:
    """Note Ctrl-C as well as raise it: whatever it became on its way up ends as KeyboardInterrupt.

    Where this process ignores it, as a job in the background of a script does, it goes on doing so.
    """
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous) or _noting.is_set() or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(signum: int, frame: FrameType | None) -> None:
        try:
            previous(signum, frame)
        except KeyboardInterrupt:
            interrupted.set()
            raise

    signal.signal(signal.SIGINT, note)
    _noting.set()
    try:
        yield
    except BaseException as error:
        if interrupted.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, previous)
        _noting.clear()
        interrupted.clear()


def is_from_user(error: BaseException) -> bool:
    """Whether an exception comes from Ctrl-C, which Python raises in the main thread, and not from an implementation.

    Outside of `noting_interrupts`, every KeyboardInterrupt in the main thread may.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    if _noting.is_set():
        return interrupted.is_set()
    return isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
