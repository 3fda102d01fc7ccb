"""Calls whose results replace their inputs: the memory of x is given for that of y."""

from __future__ import annotations

import numpy as np

from ..errors import TargetFailure
from ..formats import differ, get_format
from ..work.packing import text_of_array
from .base import Target
from .output_memory import OutputAllocator, allocating_outputs

LINE = 64  # bytes to which both arrays are aligned
CONFIRMED = 3  # times that a difference must show, so that none is of a target whose results vary
REFUSED = ("exception", "status", "dtype", "shape")  # failures by which a target may say that it takes no such call


class _MemoryOfX(OutputAllocator):
    """Hands out the input's memory."""

    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        return x_bits

    def safe_copy(self, y_bits: np.ndarray) -> np.ndarray:
        return y_bits  # `_in_place` copies them


class _NotPossible(Exception):
    """Why the call was none in place."""


def outputs(target: Target, dtype: str, x_bits: list[int], lengths: list[int]) -> str | list[list[str]]:
    """Where the target lives, with the first inputs (a cycle of them) for each length: its outputs with two arrays and
    with one, as text. Why it cannot be called with one, where that is so."""
    if why := target.why_not_in_place:
        return why
    found = []
    for n in lengths:
        x = _aligned(np.resize(np.array(x_bits, get_format(dtype).uint), n))
        apart = _apart(target, dtype, x)
        try:
            together = _confirmed(target, dtype, x, apart)
        except _NotPossible as why:
            return str(why)
        found.append([text_of_array(each) for each in (apart, together)])
    return found


def _confirmed(target: Target, dtype: str, x: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """The outputs in place; those with two arrays, unless they are others again and again, and these never."""
    fmt = get_format(dtype)
    once = together = _in_place(target, dtype, x)
    for _ in range(CONFIRMED):
        if not differ(fmt, apart, together).any():
            return apart
        together = _in_place(target, dtype, x)
        for _ in range(2):  # so that a target that is wrong in every second call is in both
            if differ(fmt, apart, _apart(target, dtype, x)).any():
                return apart
    return once


def _apart(target: Target, dtype: str, x: np.ndarray) -> np.ndarray:
    return target.timed(dtype, x.copy())[0].copy()


def _in_place(target: Target, dtype: str, x: np.ndarray) -> np.ndarray:
    memory = _aligned(x)
    try:
        with allocating_outputs(_MemoryOfX()):
            got, _ = target.timed(dtype, memory)
    except TargetFailure as failure:
        if failure.kind in REFUSED:
            raise _NotPossible(f"it refuses to be called in place: {failure}") from None
        raise
    if got.ctypes.data != memory.ctypes.data:
        raise _NotPossible("it is given copies of its arrays")
    return got.copy()


def _aligned(x: np.ndarray) -> np.ndarray:
    """A copy at the start of a cache line."""
    memory = np.empty(x.nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    copy = memory[start : start + x.nbytes].view(x.dtype)
    copy[:] = x
    return copy
