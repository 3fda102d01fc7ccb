"""Calls that take turns, so that whatever slows the machine slows all of them; what is compared is medians."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np

from ..fenv import in_default_environment, left
from ..formats import get_format

REPEATS = 9
MOST = 31
SAMPLE = 2e-4  # seconds, times the square of the threads: shorter calls are timed many at once

Call = Callable[[], object]
Side = list[Call]  # what each Python thread calls


@in_default_environment
def interleaved(sides: dict[str, Side], sample: float, budget: float) -> dict[str, list[float]]:
    """Seconds a call of each side, in turns; every round begins with another one.

    Parameters
    ----------
    sample : seconds that one timing should take at least
    budget : seconds beyond the least number of rounds
    """
    times: dict[str, list[float]] = {name: [] for name in sides}
    with ThreadPoolExecutor(max(map(len, sides.values()))) as pool:
        loops = {name: _loops(side, sample, pool) for name, side in sides.items()}
        names, end = list(sides), time.perf_counter() + budget
        rounds = 0
        while rounds < REPEATS or (time.perf_counter() < end and rounds < MOST):
            for name in names:
                times[name].append(_seconds(sides[name], loops[name], pool))
            names.append(names.pop(0))
            rounds += 1
    return times


@in_default_environment
def rate(seconds: Sequence[float], n: int, dtype: str) -> dict[str, float]:
    """Median elements per second, bytes read and written per second, interquartile range over median of the times."""
    low, median, high = np.percentile(seconds, (25, 50, 75))
    bytes_moved = 2 * n * get_format(dtype).width // 8
    return {
        "elements_per_s": float(n / median),
        "bytes_per_s": float(bytes_moved / median),
        "spread": float((high - low) / median),
    }


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
