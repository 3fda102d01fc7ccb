"""One call in the child: poisoned output, guarded margins, and a second call where the poison is still found."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format
from ..targets._buffers import lending
from ..targets.base import Target
from .memory import GuardedRoom, Place


class Call:
    """One call: poisoned output, guarded margins, and again with another poison where that one is found."""

    def __init__(self, target: Target, fmt: Format, room: GuardedRoom, place: Place) -> None:
        self._target, self._fmt, self._room, self._place = target, fmt, room, place
        self._x, self._y = room.inputs(place, fmt.uint), room.outputs(place, fmt.uint)
        self._margin = room.output_bytes[place.margin]
        self._lent = False

    def checked(self, twice: bool) -> dict[str, Any]:
        """Seconds of the call, and which outputs (index of the first, how many) a second one did not repeat."""
        first, second = _poisons(self._fmt)
        seconds = self._once(first)
        answer: dict[str, Any] = {"seconds": seconds}
        if twice or (self._lent and (self._y == first).any()):
            got = self._y.copy()
            self._once(second)
            if self._lent:
                self._check_written((got == first) & (self._y == second))
            differ = np.flatnonzero(got != self._y)
            if len(differ):
                answer["differ"] = [int(differ[0]), len(differ)]
            self._y[:] = got
        return answer

    def _once(self, poison: np.integer) -> float:
        self._lent = False

        def lend(x_bits: np.ndarray) -> np.ndarray:
            if self._lent or x_bits.shape != self._y.shape or x_bits.dtype != self._y.dtype:
                return np.full_like(x_bits, poison)
            self._lent = True
            self._y.fill(poison)
            self._margin.fill(_MARK)
            return self._y

        with lending(lend):
            got, seconds = self._target.timed(self._fmt.name, self._x)
        if self._lent and (self._margin != _MARK).any():
            side = "beyond the end of" if self._place.at_start else "before"
            raise TargetFailure(f"{self._target.name} wrote {side} its output", "out of bounds")
        if _address(got) != _address(self._y) or not got.flags.c_contiguous:
            self._y[:] = got
            self._lent = False  # where it wrote is its own affair
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
    return array.__array_interface__["data"][0]
