"""Many calls in a row, of plan `stress` only: where the implementation lives, and what they leave behind there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format, differ, get_format
from ..functions import Function
from ..inputs.plans import EQUAL_CALLS
from ..inputs.special import position_bits

if TYPE_CHECKING:
    from ..targets.base import Target

BATCHES = (100,) * 10 + (1000,) * 9 + (10_000,) * 49  # calls: half a million
assert sum(BATCHES) == EQUAL_CALLS
SECONDS = 60.0  # after which no more calls in a row are made; what was reached is reported
TURNS = (257, 1, 16, 1000)  # inputs of the calls, in turn
THREADS, EACH = 8, 2000  # threads at once, and calls of each
OVERLAP = 1e-3  # seconds of calls that several threads make at once: each is there some 50 us after the one before it
LENGTHS = 1 << 10, 1 << 17  # inputs of such a call
PAGE = os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else 4096


@dataclass
class Endurance:
    """What calls in a row showed: the calls until each look, and what the process held then."""

    made: list[int] = field(default_factory=list)
    held: dict[str, list[int]] = field(default_factory=dict)
    different: int = 0
    first: list[int] | None = None  # of the first with other outputs: number, index, x, the outputs, places
    failure: TargetFailure | None = None  # that ended it

    @classmethod
    def of(
        cls, target: Target, fmt: Format, function: Function, length: int | None, progress: Callable[[int], object]
    ) -> Endurance:
        """Calls of `length` inputs (None: of several lengths) in a fresh process, where the target has its own."""
        result, end, done = cls(), monotonic() + SECONDS, 0
        asked = fmt.name, function.name, TURNS if length is None else (length,)
        with target.alone():
            target.fresh()
            for count in BATCHES:
                if monotonic() > end:
                    break
                try:
                    found = target.apply(calls_in_a_row, *asked, done, count)
                except TargetFailure as failure:
                    result.failure = _after(failure, done, count)
                    break
                done += count
                result.add(done, found)
                progress(count)
        return result

    def add(self, done: int, found: dict[str, Any]) -> None:
        self.made.append(done)
        for name, value in found["held"].items():
            self.held.setdefault(name, []).append(value)
        self.different += found["different"]
        self.first = self.first or found["first"]


def _after(failure: TargetFailure, done: int, count: int) -> TargetFailure:
    """The failure of a call among many, which of them is not known."""
    return TargetFailure(f"{failure}, in calls {done + 1:,} to {done + count:,} of a fresh process", failure.kind)


# ---- in the process of the target -----------------------------------------------------------------

_first_outputs: dict[tuple[str, str, int], np.ndarray] = {}


def calls_in_a_row(
    target: Target, dtype: str, function: str, lengths: list[int], first: int, count: int
) -> dict[str, Any]:
    """Calls `first` and so on with the same inputs of each length in turn: how many did not return what the first of
    that length did, the first of them, and what the process holds after."""
    x = [np.resize(position_bits(function, dtype), length) for length in lengths]
    different, shown = 0, None
    for call in range(first, first + count):
        turn = call % len(x)
        key = target.name, dtype, lengths[turn]
        got, _ = target.timed(dtype, x[turn])
        if call < len(x) or key not in _first_outputs:  # the first of its length in this process
            _first_outputs[key] = got.copy()
        else:
            other = _first_other(dtype, x[turn], _first_outputs[key], got)
            different += other is not None
            if other and shown is None:
                shown = [call + 1, *other]
    return {"different": different, "first": shown, "held": held()}


def calls_at_once(target: Target, dtype: str, function: str) -> dict[str, Any]:
    """Equal calls on several threads, each with an order of its own, against one call alone."""
    cycle = position_bits(function, dtype)
    inputs = [np.roll(cycle, 31 * k) for k in range(THREADS)]
    alone = [target.timed(dtype, x.copy())[0].copy() for x in inputs]
    shown: list[list[int]] = []

    def repeated(k: int) -> int:
        different = 0
        for _ in range(EACH):
            got, _ = target.timed(dtype, inputs[k])
            if other := _first_other(dtype, inputs[k], alone[k], got):
                different += 1
                shown.append(other)
        return different

    with ThreadPoolExecutor(THREADS) as pool:
        different = sum(pool.map(repeated, range(THREADS)))
    return {"different": different, "first": shown[0] if shown else None}


def calls_together(target: Target, dtype: str, function: str, length: int | None, rounds: int, threads: int) -> Any:
    """Calls that begin at the same time on several threads, each with an order of its own; None where all give what
    each gives alone, else (index, x, what it gave alone and now, places, length) of one that does not, as numbers.

    `length`: of the calls; None: so many inputs as keep a thread at work until the others have begun."""
    cycle, started = position_bits(function, dtype), threading.Barrier(threads)
    length = length or _overlapping(target, dtype, cycle)
    inputs = [np.resize(np.roll(cycle, 31 * k), length) for k in range(threads)]
    alone = [target.timed(dtype, x.copy())[0].copy() for x in inputs]

    def repeated(k: int) -> list[int] | None:
        started.wait()
        for _ in range(rounds):  # without waiting for each other: where cores are few, one is interrupted in a call
            got, _ = target.timed(dtype, inputs[k])
            if other := _first_other(dtype, inputs[k], alone[k], got):
                return [*other, length]
        return None

    with ThreadPoolExecutor(threads) as pool:
        return next(filter(None, pool.map(repeated, range(threads))), None)


def _overlapping(target: Target, dtype: str, cycle: np.ndarray) -> int:
    """Inputs of a call that takes OVERLAP seconds, as far as the second one with a few tells: the first may compile."""
    x = np.resize(cycle, LENGTHS[0])
    _, (_, seconds) = (target.timed(dtype, x) for _ in range(2))
    return int(min(max(LENGTHS[0] * OVERLAP / max(seconds, 1e-9), LENGTHS[0]), LENGTHS[1]))


def _first_other(dtype: str, x: np.ndarray, once: np.ndarray, again: np.ndarray) -> list[int] | None:
    """Index, input and outputs of the first that are not the same in two equal calls, and how many are not."""
    if np.array_equal(once, again) or not len(places := np.flatnonzero(differ(get_format(dtype), once, again))):
        return None
    at = places[0]
    return [int(at), int(x[at]), int(once[at]), int(again[at]), len(places)]


def held() -> dict[str, int]:
    """What this process holds: bytes of resident memory and of private data, open files, threads."""
    statm, files = Path("/proc/self/statm"), Path("/proc/self/fd")
    if not statm.exists():
        return {"threads": threading.active_count()}
    pages = statm.read_text().split()
    return {
        "resident memory": int(pages[1]) * PAGE,
        "private data": int(pages[5]) * PAGE,
        "open files": len(list(files.iterdir())),
        "threads": len(list(Path("/proc/self/task").iterdir())),
    }
