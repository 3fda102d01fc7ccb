"""Memory for outputs of targets that write where they are told: a caller may lend its own, between guard pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np


class Lender(Protocol):
    """What has memory to lend: for as many outputs as there are inputs, of the same bits."""

    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        """Memory whose unwritten parts will be noticed."""

    def plain(self, x_bits: np.ndarray) -> np.ndarray:
        """Memory that is only where it has to be."""

    def kept(self, y_bits: np.ndarray) -> np.ndarray:
        """`y_bits` where nobody else writes, or as they are where the lender copies them before the next call."""


class _Allocator:
    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        return np.full_like(x_bits, np.iinfo(x_bits.dtype).max)  # NaN: freed memory may hold the right results

    def plain(self, x_bits: np.ndarray) -> np.ndarray:
        return np.empty_like(x_bits)

    def kept(self, y_bits: np.ndarray) -> np.ndarray:
        return y_bits.copy()


_nobody = _Allocator()
_this_thread = threading.local()


def output_like(x_bits: np.ndarray) -> np.ndarray:
    """Memory for as many outputs as there are inputs, for code that may leave it unwritten or write beyond it."""
    lender: Lender = getattr(_this_thread, "lender", _nobody)
    return lender.poisoned(x_bits)


def room_like(x_bits: np.ndarray) -> np.ndarray:
    """The same for a framework that checks its own bounds: nothing is looked for there."""
    lender: Lender = getattr(_this_thread, "lender", _nobody)
    return lender.plain(x_bits)


def kept(y_bits: np.ndarray) -> np.ndarray:
    """Outputs in memory that a library chose: it may write there again, in the next call of any thread."""
    lender: Lender = getattr(_this_thread, "lender", _nobody)
    return lender.kept(y_bits)


@contextmanager
def lending(lender: Lender) -> Iterator[None]:
    """While `output_like` and `room_like`, in this thread, hand out what `lender` has."""
    _this_thread.lender = lender
    try:
        yield
    finally:
        del _this_thread.lender
