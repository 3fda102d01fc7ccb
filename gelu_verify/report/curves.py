"""Geometry of curves over the ordinal axis: largest error of each rung of an attribution, conditioning under it.

A drawing is as wide as its bins and as high as HEIGHT and is stretched to its place; texts stand beside it, not in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..buckets.bins import Layout
from .axis import ticks
from .text import power_text

HEIGHT = 200


def y_of(value: np.ndarray, span: tuple[int, int]) -> np.ndarray:
    """Height of values on a log2 axis: the ends of the span for what lies beyond; NaN stays."""
    with np.errstate(divide="ignore"):
        octave = np.clip(np.log2(value), span[0], span[1])
    height: np.ndarray = HEIGHT * (span[1] - octave) / (span[1] - span[0])
    return height


def area(value: np.ndarray, span: tuple[int, int]) -> str:
    """Filled steps, one per bin; a bin without a value is a gap."""
    path = []
    for at, y in _bins(value, span):
        path.append(f"M{at} {HEIGHT}V{y:g}h1V{HEIGHT}z")
    return "".join(path)


def line(value: np.ndarray, span: tuple[int, int]) -> str:
    """A line through the middles of the bins that have a value; it goes on across those that have none."""
    points = _bins(value, span)
    return "M" + "L".join(f"{at + 0.5:g} {y:g}" for at, y in points) if points else ""


def _bins(value: np.ndarray, span: tuple[int, int]) -> list[tuple[int, float]]:
    height = np.round(y_of(value, span), 1)
    return [(at, y) for at, y in enumerate(height.tolist()) if not math.isnan(y)]


def y_ticks(span: tuple[int, int], most: int = 7) -> list[tuple[float, str]]:
    """(per cent from the top, label) of whole powers of two, always with 2^-1."""
    step = max(1, math.ceil((span[1] - span[0]) / most))
    inside = [k for k in range(span[0], span[1] + 1) if (k + 1) % step == 0]
    return [(round(100 * (span[1] - k) / (span[1] - span[0]), 2), power_text(k)) for k in inside]


def x_ticks(layout: Layout) -> list[tuple[float, str, bool]]:
    """(per cent from the left, label, whether it is one of the few for narrow windows)."""
    few = ("64", "8", "1", "0")
    return [
        (round(100 * at / layout.size, 2), label, label.lstrip("\N{MINUS SIGN}") in few) for at, label in ticks(layout)
    ]


def octaves_of(values: Sequence[np.ndarray], lowest: int, highest: int) -> tuple[int, int]:
    """Whole octaves that hold the finite values, inside [lowest, highest], at least four."""
    finite = np.concatenate([v[np.isfinite(v) & (v > 0)] for v in values] or [np.empty(0)])
    if not len(finite):
        return lowest, lowest + 4
    low = max(lowest, math.floor(math.log2(finite.min())))
    return low, max(min(highest, math.ceil(math.log2(finite.max()))), low + 4)
