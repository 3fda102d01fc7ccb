"""Places on axes: linear between two ends; powers of ten for elements per second."""

from __future__ import annotations

import math
from collections.abc import Sequence


def scaled(value: float, span: tuple[float, float], start: float, end: float) -> float:
    """Where `value` of `span` lies between `start` and `end`."""
    return round(start + (value - span[0]) / (span[1] - span[0]) * (end - start), 1)


def rate_span(rates: Sequence[float]) -> tuple[float, float]:
    """log10 of the axis that holds these rates: at least one decade, with a little room."""
    low, high = math.log10(min(rates)) - 0.05, math.log10(max(rates)) + 0.05
    missing = max(0.0, 1.0 - (high - low)) / 2
    return low - missing, high + missing


def rate_ticks(span: tuple[float, float], most: int = 6) -> list[tuple[float, str]]:
    """(log10, label) of round rates in the span: 1, 2, 5 of every decade, or 1 and 3, or decades."""
    decades = range(math.floor(span[0]), math.ceil(span[1]) + 1)
    found: list[float] = []
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**e for e in decades for d in digits if span[0] <= math.log10(d * 10.0**e) <= span[1]]
        if len(found) <= most:
            break
    return [(math.log10(rate), _label(rate)) for rate in found]


def _label(rate: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:g}{unit}"
    return f"{rate:g}"
