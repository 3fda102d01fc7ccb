"""Exact tails of the binomial law, without approximation by a normal one, and the sample sizes that follow.

P(K = k) is computed by Loader's saddle-point form (C. Loader, "Fast and accurate computation of binomial
probabilities", 2000), a tail by adding its terms from the largest on. tests/stochastic/test_binomial.py compares both
with Arb. Probabilities come as (p, 1 - p), each with its own accuracy.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

SLACK = 1 + 1e-9  # p-values are multiplied by it: larger than the relative error of a tail
_SKEWED = 1e4  # expected outcomes from which on the normal law gives sizes
_TERMS = 4096  # that are added at once
_STIRLING = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188)


@lru_cache(maxsize=1 << 14)  # counts of many places are few
def two_sided(k: int, n: int, p: float, q: float, tolerance: float = 0.0) -> float:
    """p-value of k out of n: twice the smaller of P(K <= k) and P(K >= k), at most 1.

    Of the hypothesis that the probability is within `tolerance` of p: each tail where it is largest.
    """
    if not tolerance:
        return min(1.0, 2 * min(tails(k, n, p, q)) * SLACK)
    lower, _ = tails(k, n, max(p - tolerance, 0.0), min(q + tolerance, 1.0))
    _, upper = tails(k, n, min(p + tolerance, 1.0), max(q - tolerance, 0.0))
    return min(1.0, 2 * min(lower, upper) * SLACK)


def of_sum(k: int, n: int, mean: float, of_rest: float, tolerance: float = 0.0) -> float:
    """p-value of a sum of n trials whose probabilities differ: `mean` of them, `of_rest` of 1 minus them.

    W. Hoeffding ("On the distribution of the number of successes in independent trials", 1956): beyond one of n p, its
    tails are at most those of the binomial law with the mean probability.
    """
    apart = k - n * mean if mean < of_rest else n * of_rest - (n - k)
    if abs(apart) < 1 + n * tolerance:
        return 1.0
    return two_sided(k, n, mean, of_rest, tolerance)


def tails(k: int, n: int, p: float, q: float) -> tuple[float, float]:
    """P(K <= k) and P(K >= k), K binomial; q = 1 - p."""
    if p <= 0 or q <= 0:
        surely = 0 if p <= 0 else n
        return float(k >= surely), float(k <= surely)
    here = math.exp(log_probability(k, n, p, q))
    if k * q >= (n - k) * p:  # k >= n p
        upper = _upper(k, n, p, q, here)
        return min(1.0, 1.0 - upper + here), upper
    lower = _upper(n - k, n, q, p, here)
    return lower, min(1.0, 1.0 - lower + here)


def _upper(k: int, n: int, p: float, q: float, here: float) -> float:
    """P(K >= k) for k >= n p, `here` = P(K = k): the terms fall from there on, each by (n - j)/(j + 1) p/q."""
    total, last, j = 1.0, 1.0, k
    while j < n and last > 1e-18 * total:
        steps = np.arange(j, min(j + _TERMS, n), dtype=np.float64)
        terms = last * np.cumprod((n - steps) / (steps + 1.0) * (p / q))
        total += float(terms.sum())
        last, j = float(terms[-1]), j + _TERMS
    return here * total


def log_probability(k: int, n: int, p: float, q: float) -> float:
    """log P(K = k), 0 < p < 1."""
    if k == 0:
        return n * (math.log1p(-p) if p < 0.5 else math.log(q))
    if k == n:
        return n * (math.log1p(-q) if q < 0.5 else math.log(p))
    rest = _stirling_rest(n) - _stirling_rest(k) - _stirling_rest(n - k)
    apart = k - n * p if p < q else n * q - (n - k)  # from the mean, without the rounding of the larger product
    rest -= _deviance(k, n * p, apart) + _deviance(n - k, n * q, -apart)
    return rest - 0.5 * math.log(2 * math.pi * k * ((n - k) / n))


def _deviance(x: float, mean: float, apart: float) -> float:
    """x log(x/mean) + mean - x, apart = x - mean, without cancellation where they are close."""
    if abs(apart) < 0.1 * (x + mean):
        v = apart / (x + mean)
        total, term, j = apart * v, 2 * x * v, 0
        while True:
            j += 1
            term *= v * v
            more = total + term / (2 * j + 1)
            if more == total:
                return more
            total = more
    return x * math.log(x / mean) - apart


@lru_cache(maxsize=4096)
def _stirling_rest(n: int) -> float:
    """log n! - log(sqrt(2 pi n) (n/e)^n)."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
    a, b, c, d, e = _STIRLING
    square = n * n
    return (a - (b - (c - (d - e / square) / square) / square) / square) / n


@lru_cache(maxsize=1024)
def samples_for(bias: float, p: float, q: float, level: float, power: float) -> int:
    """How many trials show a bias of the probability, up or down, with this power in a test at this level.

    By the normal law where that is near enough, n = (z_level sqrt(p q) + z_power sqrt(p' q'))^2 / bias^2 with p' = p +-
    bias; else as many more as the exact power asks for.
    """
    shifts = [shift for shift in (bias, -bias) if 0 <= p + shift <= 1]
    z_level, z_power = -NormalDist().inv_cdf(level / 2), NormalDist().inv_cdf(power)
    spread = max((p + shift) * max(q - shift, 0.0) for shift in shifts)
    n = math.ceil(((z_level * math.sqrt(p * q) + z_power * math.sqrt(spread)) / bias) ** 2)
    if n * min(p, q) < _SKEWED:
        while not all(power_of(n, p, q, shift, level) >= power for shift in shifts):
            n += n // 16 + 1
    return n


def power_of(n: int, p: float, q: float, shift: float, level: float) -> float:
    """Probability that the test at this level rejects p where it is p + shift."""
    if shift < 0:
        p, q, shift = q, p, -shift
    # the smallest count above the mean that is rejected
    least = bisect_left(range(n + 1), True, math.ceil(n * p), key=lambda count: two_sided(count, n, p, q) <= level)
    return tails(least, n, p + shift, q - shift)[1] if least <= n else 0.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p: a family of tests in which it is at most a level has a false one with that probability."""
    found, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        found[index] = largest
    return found
