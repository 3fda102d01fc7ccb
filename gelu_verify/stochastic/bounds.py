"""Clopper and Pearson's exact interval for a probability."""

from __future__ import annotations

import math
from collections.abc import Callable

from .binomial import tails


def clopper_pearson(k: int, n: int, confidence: float) -> tuple[float, float]:
    """The probabilities for which neither tail at k of n is below (1 - confidence)/2."""
    level = (1 - confidence) / 2
    low = 0.0 if k == 0 else _solved(lambda p: tails(k, n, p, 1 - p)[1] >= level)
    high = 1.0 if k == n else _solved(lambda p: tails(k, n, p, 1 - p)[0] < level)
    return low, high


def _solved(is_large: Callable[[float], bool]) -> float:
    """The probability from which on it is true, by bisection of its logarithm."""
    low, high = math.log(1e-300), 0.0
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if is_large(math.exp(middle)) else (middle, high)
    return math.exp(high)


def bennett(apart: float, variance: float) -> float:
    """P(S >= apart), at most, of a sum of independent terms of mean 0, each at most 1, whose variances add up to this.

    G. Bennett ("Probability inequalities for the sum of independent random variables", 1962): exp(-v h(s/v)), with
    h(u) = (1 + u) log(1 + u) - u.
    """
    if apart <= 0:
        return 1.0
    if variance <= 0:
        return 0.0
    u = apart / variance
    h = (1 + u) * math.log1p(u) - u if u > 1e-3 else u * u * (1 / 2 - u * (1 / 6 - u * (1 / 12 - u / 20)))
    return math.exp(-variance * h * (1 - 1e-9))


def fisher(p_values: list[float]) -> float:
    """One p-value of independent ones, by R. A. Fisher: of t = -sum log p, P(a Poisson variable of mean t < how many).

    Each is at least as large as a uniform number in law, so that the result is, too.
    """
    t = -sum(math.log(max(p, 1e-300)) for p in p_values)
    if t <= 0:
        return 1.0
    terms = [k * math.log(t) - t - math.lgamma(k + 1) for k in range(len(p_values))]
    return min(1.0, math.fsum(math.exp(term) for term in terms) * (1 + 1e-9))
