"""Outputs beside those of a plan's own calls, so that each is judged: of other calls, or of a second one for an input.

Where a target is called with inputs that it was called with before, the bits are compared; what differs is stored here
with both outputs. What was never compared is stored as it came, once for each output to an input. The check `lane`
looks for differences; what is worse than all that the plan shows is judged at the end, and becomes part of the record.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arrays import distinct
from ..formats import Format, differ, is_finite, ordinals
from ..work.packing import array_of_text, text_of_array

LANES = (2, 4, 8, 16, 32, 64)


class CallOutputs(NamedTuple):
    """The outputs of one call (bits); `where` says which call it was, {} standing for the index in it."""

    x: np.ndarray
    got: np.ndarray
    at: np.ndarray
    where: str


class Differences(NamedTuple):
    """Inputs that had two outputs (bits); `where` says where each was returned, {} standing for the index `at`."""

    x: np.ndarray
    first: np.ndarray
    second: np.ndarray
    at: np.ndarray
    where: tuple[str, str]


@dataclass
class ExtraOutputs:
    """What is left to judge."""

    calls: list[CallOutputs] = field(default_factory=list)
    differences: list[Differences] = field(default_factory=list)
    _known: tuple[np.ndarray, np.ndarray] | None = None  # inputs of the first of `calls`, ascending, an output of each
    _sorted: int = 0  # outputs in those
    _others: int = 0  # and in the other calls
    _longest: int = 0  # of these
    _asked: int = 0  # outputs that came since, kept or not

    def add_call(self, x: np.ndarray, got: np.ndarray, where: str) -> None:
        """The outputs of a whole call, but for most of those that are here already."""
        self._asked += len(x)
        if self._others >= max(self._sorted, 1) and self._asked >= 2 * self._longest:
            self._sort()
            self._longest, self._asked = 0, len(x)
        new = self._new(x, got)
        if len(new):
            self.calls.append(CallOutputs(x[new], got[new], new, where))
            self._others += len(new)
            self._longest = max(self._longest, len(new))

    def _sort(self) -> None:
        """It takes long: when twice as many are here as before, and no longer one call that may be the last."""
        x, got = (np.concatenate([each[k] for each in self.calls]) for k in range(2))
        self._sorted, self._others = len(x), 0
        x, first = np.unique(x, return_index=True)
        self._known = x, got[first]

    def _new(self, x: np.ndarray, got: np.ndarray) -> np.ndarray:
        """Places of outputs that are not known; of a call with more than were sorted, all."""
        if self._known is None or len(x) > self._sorted:
            return np.arange(len(x))
        place = np.minimum(np.searchsorted(self._known[0], x), len(self._known[0]) - 1)
        return np.flatnonzero((self._known[0][place] != x) | (self._known[1][place] != got))

    def all(self, fmt: Format) -> AllOutputs:
        """Every output, of calls and of both sides of differences."""
        found = list(self.calls)
        for x, first, second, at, where in self.differences:
            found += [CallOutputs(x, first, at, where[0]), CallOutputs(x, second, at, where[1])]
        if not found:
            nothing = np.empty(0, np.int64)
            return AllOutputs(nothing.astype(fmt.uint), nothing.astype(fmt.uint), nothing, nothing, [])
        of = np.repeat(np.arange(len(found)), [len(each.x) for each in found])
        x, got, at = (
            np.concatenate(each) for each in ([getattr(one, name) for one in found] for name in ("x", "got", "at"))
        )
        return AllOutputs(x, got, at, of, [each.where for each in found])


class AllOutputs(NamedTuple):
    """Outputs of many calls (bits): the index of each in its call, and which of `places` says which call it was."""

    x: np.ndarray
    got: np.ndarray
    at: np.ndarray
    of: np.ndarray
    places: list[str]

    def where(self, k: int) -> str:
        """Where an output was returned."""
        return self.places[int(self.of[k])].format(self.at[k])


def differences(
    fmt: Format, x: np.ndarray, first: np.ndarray, second: np.ndarray, where: tuple[str, str]
) -> list[Differences]:
    """One entry with all inputs whose outputs differ; none where all are the same."""
    if np.array_equal(first, second):
        return []
    at = np.flatnonzero(differ(fmt, first, second))
    return [Differences(x[at], first[at], second[at], at, where)] if len(at) else []


def pattern(places: np.ndarray, size: int) -> str:
    """How many places of a call of `size` elements these are, and in what they are alike."""
    if places[0] >= size - LANES[-1]:
        return f"{len(places)} of the last {size - places[0]}"
    shared = [lanes for lanes in LANES if (places % lanes == places[0] % lanes).all()]
    if len(places) == 1 or not shared:
        return f"{len(places)}"
    return f"{len(places)}, all in lane {places[0] % shared[-1]} of {shared[-1]}"


# ---- what a target notices during a call, for who made the call ----------------------------------

_this_thread = threading.local()


@contextmanager
def collecting() -> Iterator[list[Differences]]:
    """What is reported in this thread meanwhile."""
    before = getattr(_this_thread, "found", None)
    found: list[Differences] = []
    _this_thread.found = found
    try:
        yield found
    finally:
        _this_thread.found = before


def report(found: list[Differences]) -> None:
    """Pass on to who called the target; dropped where that is not collecting, as while a failure is minimized."""
    listener = getattr(_this_thread, "found", None)
    if listener is not None:
        listener.extend(found)


# ---- across processes ----------------------------------------------------------------------------


def differences_to_json(fmt: Format, found: list[Differences]) -> list[Any]:
    """All that decides, as text: of each input of a call the extreme outputs."""
    rows = []
    for each in found:
        kept = extremes(fmt, each.x, each.second)
        arrays = (each.x[kept], each.first[kept], each.second[kept], each.at[kept].astype(np.int64))
        rows.append([*map(text_of_array, arrays), list(each.where)])
    return rows


def differences_from_json(fmt: Format, rows: list[Any]) -> list[Differences]:
    found = []
    for x, first, second, at, where in rows:
        bits = [array_of_text(each, fmt.uint) for each in (x, first, second)]
        found.append(Differences(bits[0], bits[1], bits[2], array_of_text(at, np.int64), (where[0], where[1])))
    return found


def extremes(fmt: Format, x: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Places of the outputs to each input that can be its worst: the least and the greatest, and of the finite ones."""
    y, finite = ordinals(fmt, got), is_finite(fmt, got)
    kept = [np.empty(0, np.int64)]
    for rows in (np.arange(len(x)), np.flatnonzero(finite)):
        order = rows[np.lexsort((y[rows], x[rows]))]
        edges = np.flatnonzero(np.diff(x[order].astype(np.uint64))) if len(order) else order
        kept += [order[:1], order[edges + 1], order[edges], order[-1:]]
    return distinct(np.concatenate(kept))
