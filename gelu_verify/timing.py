"""Interleaved timing: calls of all sides alternate, so that whatever slows the machine slows all; medians are compared.

The one loop of throughput, bench, cache levels and CUDA devices. What differs between them is how one call is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

REPEATS, MOST = 9, 31  # rounds: at least, and at most


def interleaved(
    timed: Mapping[str, Callable[[], float]], *, budget: float = 0.0, repeats: int = REPEATS
) -> dict[str, list[float]]:
    """Seconds of each call, in rounds; every round begins with another one.

    Parameters
    ----------
    timed : name -> what makes one call and returns its seconds
    budget : seconds after which no more than `repeats` rounds are made; never more than MOST, or `repeats`
    """
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    names, end, rounds = list(timed), time.perf_counter() + budget, 0
    while rounds < repeats or (time.perf_counter() < end and rounds < MOST):
        for name in names:
            seconds[name].append(timed[name]())
        names.append(names.pop(0))
        rounds += 1
    return seconds


def rate(seconds: Sequence[float], n: int, itemsize: int) -> dict[str, float]:
    """Median elements per second, bytes read and written per second, interquartile range over median of the times."""
    low, median, high = np.percentile(seconds, (25, 50, 75))
    return {
        "elements_per_s": float(n / median),
        "bytes_per_s": float(2 * n * itemsize / median),
        "spread": float((high - low) / median),
    }
