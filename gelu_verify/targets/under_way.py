"""When the call that is at work now began: where whoever waits for it in another process can read it."""

from __future__ import annotations

import ctypes
from time import monotonic

_since = ctypes.c_double(0.0)  # seconds of the monotonic clock, which all processes share; 0: no call is at work


def share(address: int) -> None:
    """Write it there from now on."""
    global _since
    _since = ctypes.c_double.from_address(address)


def began() -> None:
    _since.value = monotonic()


def ended() -> None:
    _since.value = 0.0
