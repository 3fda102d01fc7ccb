"""Memory for outputs of targets that write to memory they are given: a caller may choose it, between guard pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class OutputAllocator:
    """Where outputs are written, in new arrays unless a subclass has others: each for as many values as inputs."""

    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        """Memory whose unwritten parts will be noticed."""
        return np.full_like(x_bits, np.iinfo(x_bits.dtype).max)  # NaN: freed memory may hold the right results

    def plain(self, x_bits: np.ndarray) -> np.ndarray:
        """Memory that is only where it has to be."""
        return np.empty_like(x_bits)

    def safe_copy(self, y_bits: np.ndarray) -> np.ndarray:
        """A copy that no library writes to, or `y_bits` where the caller copies them before the next call."""
        return y_bits.copy()


_default = OutputAllocator()
_this_thread = threading.local()


def _allocator() -> OutputAllocator:
    found: OutputAllocator = getattr(_this_thread, "allocator", _default)
    return found


def output_like(x_bits: np.ndarray) -> np.ndarray:
    """Memory for as many outputs as there are inputs, for code that may leave it unwritten or write beyond it."""
    return _allocator().poisoned(x_bits)


def empty_output_like(x_bits: np.ndarray) -> np.ndarray:
    """The same for a framework that checks its own bounds: nothing is looked for there."""
    return _allocator().plain(x_bits)


def safe_copy(y_bits: np.ndarray) -> np.ndarray:
    """Outputs in memory that a library chose: it may write there again, in the next call of any thread."""
    return _allocator().safe_copy(y_bits)


@contextmanager
def allocating_outputs(allocator: OutputAllocator) -> Iterator[None]:
    """While `output_like` and `empty_output_like`, in this thread, hand out the memory of `allocator`."""
    before, _this_thread.allocator = _allocator(), allocator
    try:
        yield
    finally:
        _this_thread.allocator = before
