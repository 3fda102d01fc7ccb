"""Places on linear axes."""

from __future__ import annotations


def scaled(value: float, span: tuple[float, float], start: float, end: float) -> float:
    """Where `value` of `span` lies between `start` and `end`."""
    return round(start + (value - span[0]) / (span[1] - span[0]) * (end - start), 1)
