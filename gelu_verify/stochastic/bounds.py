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
