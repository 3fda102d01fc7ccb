"""Calls of 1 to 64 elements, and some of up to 1,000, at chosen addresses: arrays aligned and not, memory reused.

They are made where the implementation lives, because there are many. Input and output lie in one block of pages, so
that their alignment to a cache line, and their distance, are those of the plan below; an implementation that returns
memory of its own has only its inputs there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from ..errors import TargetFailure
from ..formats import get_format
from ..work.packing import text_of_array
from .base import Target
from .output_memory import OutputAllocator, allocating_outputs

LENGTHS = 64
LONGER = (65, 67, 80, 96, 100, 127, 128, 129, 192, 255, 257, 500, 1000)  # which are made at the same addresses
PAGE = 4096
PAGES = 10  # of the block: the longest calls in 64 bits need two for each array
LINE = 64  # bytes, to which arrays are aligned or not
EVERY_OFFSET = (7, 16, 33)  # lengths at every offset within a line, of up to 15 elements
UNWRITTEN = 0xFF  # bytes of an output before a call: NaN in every format


class Placed(NamedTuple):
    """One call: its inputs (indices), and where its arrays begin (bytes)."""

    inputs: np.ndarray
    x_at: int
    y_at: int

    @property
    def where(self) -> str:
        """Where it was made, for a message."""
        apart = self.y_at - self.x_at
        offsets = f"input {self.x_at % LINE} and output {self.y_at % LINE} bytes past a multiple of {LINE}"
        return f"at index {{}} in a call of {len(self.inputs)}, {offsets}, {abs(apart)} bytes apart"


@cache
def schedule(itemsize: int, inputs: int, ordinary: int) -> tuple[tuple[Placed, ...], np.ndarray, np.ndarray]:
    """All calls, their inputs (indices) one after the other, and where each call ends in these.

    A long one comes between short ones, so that the next one starts with what it leaves behind.

    A call of one element is made with each of the inputs, because many implementations have a path for it; longer
    ones have only the first `ordinary` of them, so that no position has results only that are a default.
    """
    calls, start = [], 0
    for n in (*_interleaved(LENGTHS), *LONGER):
        places = list(_places(n, itemsize))
        for k in range(inputs if n == 1 else len(places)):
            chosen = np.array([k]) if n == 1 else np.arange(start, start + n) % ordinary
            calls.append(Placed(chosen, *places[k % len(places)]))
            start += n
    return tuple(calls), np.concatenate([call.inputs for call in calls]), np.cumsum([len(c.inputs) for c in calls])


def _interleaved(most: int) -> Iterator[int]:
    """1 to `most`: the longest, the shortest, and so on."""
    low, high = 1, most
    while low <= high:
        yield high
        if low < high:
            yield low
        low, high = low + 1, high - 1


def _places(n: int, itemsize: int) -> Iterator[tuple[int, int]]:
    """Addresses of input and output within the block: aligned, unaligned, one page apart, others."""
    lanes = LINE // itemsize
    some, other = itemsize * (1 + n % (lanes - 1)), itemsize * (1 + (5 * n + 3) % (lanes - 1))
    step = PAGE * -(-(n * itemsize + LINE) // PAGE)
    first, second, third = PAGE, PAGE + step, PAGE + 2 * step
    yield first, second
    yield first, second  # the same memory, with other inputs
    yield first + some, second + some
    yield second, first + other
    yield first + other, third
    yield first + some, first + LINE + some + n * itemsize  # not a multiple of a page apart
    if n in EVERY_OFFSET:
        for offset in range(itemsize, min(LINE, 16 * itemsize), itemsize):
            yield first + offset, second + offset
            yield first, third + offset
            yield first + offset, third


class _Block(OutputAllocator):
    """The pages, and the allocator of outputs in them."""

    def __init__(self) -> None:
        memory = np.zeros((PAGES + 1) * PAGE, np.uint8)
        start = -memory.ctypes.data % PAGE
        self._bytes = memory[start : start + PAGES * PAGE]
        self._y = self._bytes[:0]

    def placed(self, call: Placed, x_bits: np.ndarray) -> np.ndarray:
        """The inputs in their place; the output's is prepared."""
        x, self._y = (self._bytes[at : at + x_bits.nbytes] for at in (call.x_at, call.y_at))
        self._y.fill(UNWRITTEN)
        found = x.view(x_bits.dtype)
        found[:] = x_bits
        return found

    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        """Once in each call."""
        memory, self._y = self._y, self._y[:0]
        return memory.view(x_bits.dtype) if len(memory) == x_bits.nbytes else np.empty_like(x_bits)

    plain = poisoned

    def safe_copy(self, y_bits: np.ndarray) -> np.ndarray:
        return y_bits  # `outputs` copies them


def outputs(target: Target, dtype: str, x_bits: list[int], ordinary: int) -> str:
    """What all calls of the schedule return, one after the other, as text."""
    fmt, block = get_format(dtype), _Block()
    calls, inputs, ends = schedule(fmt.width // 8, len(x_bits), ordinary)
    x_bits_of_all, found = np.array(x_bits, fmt.uint)[inputs], []
    for call, end in zip(calls, ends.tolist(), strict=True):
        x = block.placed(call, x_bits_of_all[end - len(call.inputs) : end])
        try:
            with allocating_outputs(block):
                found.append(target.timed(dtype, x)[0].copy())
        except TargetFailure as failure:
            failure.args = (f"{failure}, {call.where.partition(', ')[0].removeprefix('at index {} ')}",)
            raise
    return text_of_array(np.concatenate(found))


def one_call(target: Target, dtype: str, x_bits: list[int], n: int) -> str:
    """What one call with `n` of these inputs, in a cycle, returns, as text."""
    got, _ = target.timed(dtype, np.resize(np.array(x_bits, get_format(dtype).uint), n))
    return text_of_array(got)
