"""Paired comparisons: Wilcoxon's signed-rank test, exact, and the interval of the shift that belongs to it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

LEVEL = 0.05  # of a whole family of tests; an interval covers with a probability of at least 1 - LEVEL


class Shift(NamedTuple):
    """How far differences lie from 0: the estimate of Hodges and Lehmann, and an interval."""

    estimate: float
    low: float
    high: float


def shift(differences: np.ndarray) -> Shift:
    """The median of the means of all pairs of differences (each also with itself), and its exact interval of 95 %.

    The interval has the shifts that the signed-rank test at LEVEL does not reject, where no two differences are equal
    in size; with equal ones it is wider than needed. All numbers for fewer than six. A NaN, of two losses that are
    infinite, counts as no difference."""
    known = np.where(np.isnan(differences), 0.0, differences)
    first, second = np.triu_indices(len(known))
    with np.errstate(invalid="ignore"):
        means = (known[first] + known[second]) / 2
    means = np.sort(np.where(np.isnan(means), 0.0, means))
    rejected = _largest_sum(len(known))
    if rejected < 0:
        return Shift(_median(means), -np.inf, np.inf)
    return Shift(_median(means), float(means[rejected]), float(means[-1 - rejected]))


def signed_rank(differences: np.ndarray) -> float:
    """Two-sided p of Wilcoxon's signed-rank test: exact, given the ties; zeros are left out.

    Infinite differences have the largest rank; equal infinities (NaN) count as no difference. 1 where all are zero.
    """
    kept = differences[(differences != 0) & ~np.isnan(differences)]
    if not len(kept):
        return 1.0
    doubled = _doubled_ranks(np.abs(kept))
    total, positive = int(doubled.sum()), int(doubled[kept > 0].sum())
    extreme = min(positive, total - positive)
    return float(min(1.0, 2 * _ways(tuple(np.sort(doubled).tolist()))[: extreme + 1].sum() / 2.0 ** len(kept)))


def _median(ordered: np.ndarray) -> float:
    """Of sorted numbers, of which some may be infinite."""
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(low if low == high else (low + high) / 2)


@cache
def _largest_sum(runs: int) -> int:
    """The largest sum of ranks whose two-sided p is at most LEVEL, without ties; -1 where none is."""
    below = 2 * np.cumsum(_ways(tuple(range(1, runs + 1)))) / 2.0**runs
    return int(np.searchsorted(below, LEVEL, "right")) - 1


@cache
def _ways(ranks: tuple[int, ...]) -> np.ndarray:
    """In how many ways signs give each sum of positive ranks."""
    ways = np.zeros(sum(ranks) + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] += ways[: len(ways) - rank].copy()
    return ways


def _doubled_ranks(sizes: np.ndarray) -> np.ndarray:
    """Twice the ranks; equal numbers share the mean of theirs."""
    ordered = np.sort(sizes)
    return np.asarray(np.searchsorted(ordered, sizes, "left") + np.searchsorted(ordered, sizes, "right") + 1)
