"""Paired comparisons: signed ranks with exact probabilities, bootstrapped medians, and what could have been found."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

LEVEL = 0.05  # of a whole family of tests
POWER = 0.8
RESAMPLES = 1000
_SIMULATED = 4000


class MedianInterval(NamedTuple):
    """A median and its interval of 95 % (percentile bootstrap)."""

    median: float
    low: float
    high: float


def bootstrap(samples: np.ndarray) -> MedianInterval:
    """The median of a sample; always the same resamples for the same size."""
    drawn = samples[_resamples(len(samples))]
    low, high = np.quantile(np.median(drawn, -1), (0.025, 0.975), method="nearest")
    return MedianInterval(float(np.median(samples)), float(low), float(high))


def signed_rank(differences: np.ndarray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test: exact, given the ties; zeros are left out.

    Infinite differences have the largest rank; equal infinities (NaN) count as no difference. 1 where all are zero.
    """
    kept = differences[(differences != 0) & ~np.isnan(differences)]
    if not len(kept):
        return 1.0
    doubled = _doubled_ranks(np.abs(kept))
    total, positive = int(doubled.sum()), int(doubled[kept > 0].sum())
    ways = np.zeros(total + 1)  # of each sum of ranks, over all signs
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] += ways[: total + 1 - rank].copy()
    extreme = min(positive, total - positive)
    return float(min(1.0, 2 * ways[: extreme + 1].sum() / 2.0 ** len(kept)))


@cache
def detectable(runs: int, tests: int) -> float | None:
    """The shift, in standard deviations of the differences, that the first step of Holm finds with probability POWER.

    For normal differences, by simulation of this very test; None where even the smallest p of so many runs is too
    large."""
    limit = LEVEL / tests
    if 2.0 ** (1 - runs) > limit:
        return None
    most = _largest_sum(runs, limit)
    noise = np.random.default_rng(0).normal(size=(_SIMULATED, runs))
    low, high = 0.0, 64.0
    while high - low > 0.005:
        shift = (low + high) / 2
        shifted = noise + shift
        ranks = 2 * np.abs(shifted).argsort(1).argsort(1) + 2  # there are no ties
        positive = np.where(shifted > 0, ranks, 0).sum(1)
        smaller = np.minimum(positive, ranks.sum(1) - positive)
        low, high = (low, shift) if (smaller <= most).mean() >= POWER else (shift, high)
    return round(high, 2)


def _largest_sum(runs: int, limit: float) -> int:
    """The largest doubled sum of ranks whose two-sided p is at most the limit, without ties."""
    ways = np.zeros(runs * (runs + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, runs + 1):
        ways[rank:] += ways[: len(ways) - rank].copy()
    return 2 * int(np.searchsorted(2 * np.cumsum(ways) / 2.0**runs, limit, "right") - 1)


def _doubled_ranks(sizes: np.ndarray) -> np.ndarray:
    """Twice the ranks; equal numbers share the mean of theirs."""
    ordered = np.sort(sizes)
    return np.asarray(np.searchsorted(ordered, sizes, "left") + np.searchsorted(ordered, sizes, "right") + 1)


@cache
def _resamples(size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(size, size=(RESAMPLES, size))
