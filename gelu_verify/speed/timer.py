"""Calls that are timed many at once, on one thread or on several; the loop is that of `timing`."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

from ..fenv import left
from ..timing import interleaved

SAMPLE = 2e-4  # seconds, times the square of the threads: shorter calls are timed many at once

Call = Callable[[], object]
Side = list[Call]  # what each Python thread calls


def interleaved_sides(sides: dict[str, Side], sample: float, budget: float) -> dict[str, list[float]]:
    """Seconds a call of each side, in turns.

    Parameters
    ----------
    sample : seconds that one timing should take at least
    budget : seconds beyond the least number of rounds
    """
    with ThreadPoolExecutor(max(map(len, sides.values()))) as pool:
        loops = {name: _loops(side, sample, pool) for name, side in sides.items()}
        timed = {name: partial(_seconds, side, loops[name], pool) for name, side in sides.items()}
        return interleaved(timed, budget=budget)


def _loops(side: Side, sample: float, pool: Executor) -> int:
    """How many calls make a sample; warms up."""
    _seconds(side, 1, pool)
    return max(1, int(sample / min(_seconds(side, 1, pool) for _ in range(3))))


def _seconds(side: Side, loops: int, pool: Executor) -> float:
    start = time.perf_counter()
    others = [pool.submit(_repeat, call, loops) for call in side[1:]]
    _repeat(side[0], loops)
    for other in others:
        other.result()
    return (time.perf_counter() - start) / loops


def _repeat(call: Call, loops: int) -> None:
    for _ in range(loops):
        call()
    left()  # what the calls did to the floating-point environment is not for the next side
