"""Outputs beside those of a plan's own calls, so that each is judged: of other calls, or of a second one for an input.

Where a target is called with inputs that it was called with before, the bits are compared; what differs is stored here
with both outputs. What was never compared is stored as it came. The check `lane` judges both.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..formats import Format, is_nan

MOST_CROSSING = 64  # differences of one call that a process reports to another


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

    def add_call(self, x: np.ndarray, got: np.ndarray, where: str) -> None:
        """The outputs of a whole call."""
        self.calls.append(CallOutputs(x, got, np.arange(len(x)), where))


def differ(fmt: Format, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Where two outputs are not the same bits; a NaN is a NaN."""
    other: np.ndarray = (first != second) & ~(is_nan(fmt, first) & is_nan(fmt, second))
    return other


def differences(
    fmt: Format, x: np.ndarray, first: np.ndarray, second: np.ndarray, where: tuple[str, str]
) -> list[Differences]:
    """One entry with all inputs whose outputs differ; none where all are the same."""
    if np.array_equal(first, second):
        return []
    at = np.flatnonzero(differ(fmt, first, second))
    return [Differences(x[at], first[at], second[at], at, where)] if len(at) else []


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


def differences_to_json(found: list[Differences]) -> list[Any]:
    return [[*(array[:MOST_CROSSING].tolist() for array in each[:4]), list(each.where)] for each in found]


def differences_from_json(fmt: Format, rows: list[Any]) -> list[Differences]:
    return [
        Differences(np.array(x, fmt.uint), np.array(a, fmt.uint), np.array(b, fmt.uint), np.array(at), tuple(where))
        for x, a, b, at, where in rows
    ]
