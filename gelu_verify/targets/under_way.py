"""When the call or import that is at work now began: where whoever waits for it in another process can read it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

_since = ctypes.c_double(0.0)  # seconds of the clock that all processes share, negative of an import; 0: neither is


def share(address: int) -> None:
    """Write it there from now on."""
    global _since
    _since = ctypes.c_double.from_address(address)


def began() -> None:
    _since.value = monotonic()


def ended() -> None:
    _since.value = 0.0


@contextmanager
def loading() -> Iterator[None]:
    """Somebody else's code is imported, or a library of theirs opened: what it runs then may not return."""
    before, _since.value = _since.value, -monotonic()
    try:
        yield
    finally:
        _since.value = before
