"""When the call or import that is at work now began, and in which dtype it calls: where whoever waits for it in another
process can read it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from ..formats import DTYPES


class UnderWay(ctypes.Structure):
    """`since`: seconds of the clock that all processes share, negative of an import; 0: neither is. `dtype`: of DTYPES,
    counted from 1; 0: of no call."""

    _fields_ = (("since", ctypes.c_double), ("dtype", ctypes.c_int32))


_now = UnderWay()


def share(address: int) -> None:
    """Write it there from now on."""
    global _now
    _now = UnderWay.from_address(address)


def began(dtype: str) -> None:
    _now.since, _now.dtype = monotonic(), DTYPES.index(dtype) + 1


def ended() -> None:
    _now.since, _now.dtype = 0.0, 0


def dtype_of_call(now: UnderWay) -> str:
    """The dtype of the call that is under way; empty where none is."""
    return DTYPES[now.dtype - 1] if now.since > 0 and now.dtype else ""


@contextmanager
def loading() -> Iterator[None]:
    """Somebody else's code is imported, or a library of theirs opened: what it runs then may not return."""
    before, _now.since = _now.since, -monotonic()
    try:
        yield
    finally:
        _now.since = before
