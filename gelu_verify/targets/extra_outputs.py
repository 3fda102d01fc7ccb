"""Answers beside those to a plan's own calls, kept so that each is judged: from other calls, or a second one of a call.

Where a target is called with inputs that it was called with before, the bits are compared; what differs is kept here
with both answers. What was never compared is kept as it was given. The check `lane` judges both.
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


class Given(NamedTuple):
    """The answers of one call (bits); `where` says which call it was, {} standing for the index in it."""

    x: np.ndarray
    got: np.ndarray
    at: np.ndarray
    where: str


class Differences(NamedTuple):
    """Inputs that had two answers (bits); `where` says where each was given, {} standing for the index `at`."""

    x: np.ndarray
    first: np.ndarray
    second: np.ndarray
    at: np.ndarray
    where: tuple[str, str]


@dataclass
class OtherAnswers:
    """What is left to judge."""

    given: list[Given] = field(default_factory=list)
    differences: list[Differences] = field(default_factory=list)

    def give(self, x: np.ndarray, got: np.ndarray, where: str) -> None:
        """Keep the answers of a whole call."""
        self.given.append(Given(x, got, np.arange(len(x)), where))


def differ(fmt: Format, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Where two answers are not the same bits; a NaN is a NaN."""
    return (first != second) & ~(is_nan(fmt, first) & is_nan(fmt, second))


def differences(
    fmt: Format, x: np.ndarray, first: np.ndarray, second: np.ndarray, where: tuple[str, str]
) -> list[Differences]:
    """One entry with all inputs whose answers differ; none where all are the same."""
    if np.array_equal(first, second):
        return []
    at = np.flatnonzero(differ(fmt, first, second))
    return [Differences(x[at], first[at], second[at], at, where)] if len(at) else []


# ---- what a target notices during a call, for who made the call ----------------------------------

_this_thread = threading.local()


@contextmanager
def collecting() -> Iterator[list[Differences]]:
    """What `report` is told in this thread meanwhile."""
    before = getattr(_this_thread, "found", None)
    found: list[Differences] = []
    _this_thread.found = found
    try:
        yield found
    finally:
        _this_thread.found = before


def report(found: list[Differences]) -> None:
    """Pass on to who called the target; nobody listens while a failure is being narrowed down."""
    listener = getattr(_this_thread, "found", None)
    if listener is not None:
        listener.extend(found)


# ---- across processes ----------------------------------------------------------------------------


def packed(found: list[Differences]) -> list[Any]:
    """As JSON has it."""
    return [[*(array[:MOST_CROSSING].tolist() for array in each[:4]), list(each.where)] for each in found]


def unpacked(fmt: Format, told: list[Any]) -> list[Differences]:
    """What was packed."""
    return [
        Differences(np.array(x, fmt.uint), np.array(a, fmt.uint), np.array(b, fmt.uint), np.array(at), tuple(where))
        for x, a, b, at, where in told
    ]
