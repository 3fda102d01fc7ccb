"""One call in the child: poisoned output, guarded margins, and a second call where the poison is still found."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format, differ
from ..targets.base import Target
from ..targets.extra_outputs import collecting, differences_to_json
from ..targets.output_memory import OutputAllocator, allocating_outputs
from .memory import ArrayPlace, GuardedMemory


class SharedCall(OutputAllocator):
    """One target, one dtype, one place in shared memory: what is called again and again; allocates its outputs."""

    def __init__(self, target: Target, fmt: Format, memory: GuardedMemory, place: ArrayPlace) -> None:
        self._target, self._fmt, self._at_start = target, fmt, place.at_start
        self._x, self._y = memory.inputs(place, fmt.uint), memory.outputs(place, fmt.uint)
        self._margin = memory.output_bytes[place.margin]
        self._poisons = _poisons(fmt)
        self._poison, self._lent, self._is_poisoned = self._poisons[0], False, False

    def poisoned(self, x_bits: np.ndarray) -> np.ndarray:
        if not self._fits(x_bits):
            return np.full_like(x_bits, self._poison)
        self._is_poisoned = True
        self._y.fill(self._poison)
        self._margin.fill(_MARK)
        return self._y

    def plain(self, x_bits: np.ndarray) -> np.ndarray:
        return self._y if self._fits(x_bits) else np.empty_like(x_bits)

    def safe_copy(self, y_bits: np.ndarray) -> np.ndarray:
        return y_bits  # `_once` copies them

    def _fits(self, x_bits: np.ndarray) -> bool:
        fits = not self._lent and x_bits.shape == self._y.shape and x_bits.itemsize == self._y.itemsize
        self._lent |= fits
        return fits

    def checked(self, twice: bool) -> dict[str, Any]:
        """Seconds of the call, which outputs (index of the first, how many) a second one did not repeat, and what the
        target itself noticed: second outputs."""
        with collecting() as others:
            found = self._checked(twice)
        return {**found, "others": differences_to_json(self._fmt, others)} if others else found

    def _checked(self, twice: bool) -> dict[str, Any]:
        first, second = self._poisons
        seconds = self._once(first)
        found: dict[str, Any] = {"seconds": seconds}
        if twice or (self._is_poisoned and (self._y == first).any()):
            got = self._y.copy()
            self._once(second)
            if self._is_poisoned:
                self._check_written((got == first) & (self._y == second))
            places = np.flatnonzero(differ(self._fmt, got, self._y))
            if len(places):
                found["differ"] = [int(places[0]), len(places)]
            self._y[:] = got
        if errors := self._target.execution_errors(self._fmt.name):
            found["executions"] = asdict(errors)
        if (noted := self._target.noted(self._fmt.name)) is not None:
            found["noted"] = [str(noted), noted.kind]
        return found

    def _once(self, poison: np.integer) -> float:
        self._poison, self._lent, self._is_poisoned = poison, False, False
        with allocating_outputs(self):
            got, seconds = self._target.timed(self._fmt.name, self._x)
        if self._is_poisoned and (self._margin != _MARK).any():
            side = "beyond the end of" if self._at_start else "before"
            raise TargetFailure(f"{self._target.name} wrote {side} its output", "out of bounds")
        if _address(got) != _address(self._y) or not got.flags.c_contiguous:
            self._is_poisoned = False  # where it wrote is its own affair
            self._y[:] = got
            self._target.check_settled(got, self._y)
        return seconds

    def _check_written(self, unwritten: np.ndarray) -> None:
        where = np.flatnonzero(unwritten)
        if len(where):
            many = "1 output" if len(where) == 1 else f"{len(where)} of {len(unwritten)} outputs"
            raise TargetFailure(
                f"{self._target.name} left {many} unwritten, the first at index {where[0]}", "partial write"
            )


_MARK = 0xA5


def _poisons(fmt: Format) -> tuple[np.integer, np.integer]:
    """Two NaNs that no arithmetic makes."""
    payload = (1 << (fmt.precision - 1)) - 1
    return (
        fmt.uint.type(fmt.infinity | (0x25A5A5A5A5A5A5 & payload) | 1),
        fmt.uint.type(fmt.sign_mask | fmt.infinity | (0x1A5A5A5A5A5A5A & payload) | 1),
    )


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
