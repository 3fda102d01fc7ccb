"""Geometry of the static charts: error strips and the accuracy-against-speed scatter.

Only numbers and path strings: the template draws them, and escapes every text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..buckets.bins import EMPTY, FLOOR, LEVELS_PER_OCTAVE, Envelope, octaves
from .scales import rate_span, rate_ticks, scaled
from .text import power_text

STRIP_HEIGHT = 34
SCATTER = {"width": 320, "height": 232, "left": 44, "right": 18, "top": 24, "bottom": 34}
_NEAR = 9  # closer than that in both directions, two points share a label
_DIGIT = 5.7  # width of a character in the labels of the scatter

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def strip_path(shape: Envelope, span: tuple[int, int], height: int = STRIP_HEIGHT) -> str:
    """SVG path of one envelope as a filled area, one unit per bin; bins without inputs are gaps."""
    low, high = span
    octave = shape.levels.astype(np.float64) / LEVELS_PER_OCTAVE + FLOOR
    level = np.clip(np.rint((octave - low) / (high - low) * height), 1, height).astype(int)
    level[shape.levels == EMPTY] = 0
    starts = np.flatnonzero(np.diff(level, prepend=-1))
    widths = np.diff(np.append(starts, len(level)))
    path, current = [], 0
    for start, width, top in zip(starts.tolist(), widths.tolist(), level[starts].tolist(), strict=True):
        if top and not current:
            path.append(f"M{start} {height}")
        if top or current:
            path.append(f"v{current - top}" + (f"h{width}" if top else "z"))
        current = top
    return "".join(path) + (f"v{current}z" if current else "")


def half_ulp_line(span: tuple[int, int], height: int = STRIP_HEIGHT) -> float:
    """y of 0.5 ULP, the limit of correct rounding, in a strip."""
    return round(height - (-1 - span[0]) / (span[1] - span[0]) * height, 2)


@dataclass(frozen=True)
class Point:
    """One timed result."""

    x: float
    y: float
    own: bool
    title: str


@dataclass(frozen=True)
class Label:
    """The numbers of the points that lie together, printed once beside them."""

    x: float
    y: float
    numbers: str


def scatter(timed: Sequence[dict[str, Any]], copy: float | None = None) -> dict[str, Any]:
    """Points and ticks of max |E| (log2) against elements per second (log10), and where a memory copy lies.

    `timed` has number, own, title, elements_per_s > 0 and max_ulp; without a finite error a point
    sits on the upper edge.
    """
    finite = [t["max_ulp"] for t in timed if 0 < (t["max_ulp"] or 0) < math.inf]
    rates = [t["elements_per_s"] for t in timed]
    x_span, y_span = rate_span([*rates, *([copy] if copy else [])]), octaves(*finite)
    box = SCATTER

    def x_of(rate: float) -> float:
        return scaled(math.log10(rate), x_span, box["left"], box["width"] - box["right"])

    def y_of(octave: float) -> float:
        return scaled(octave, y_span, box["height"] - box["bottom"], box["top"])

    points = []
    for entry in timed:
        error = entry["max_ulp"]
        octave = y_span[1] if error is None or not math.isfinite(error) else math.log2(max(error, 2.0 ** y_span[0]))
        points.append(Point(x_of(entry["elements_per_s"]), y_of(octave), entry["own"], entry["title"]))
    return {
        "box": box,
        "points": points,
        "labels": _labels(zip(points, (entry["number"] for entry in timed), strict=True)),
        "copy_at": x_of(copy) if copy else None,
        "x_ticks": [
            (scaled(e, x_span, box["left"], box["width"] - box["right"]), label) for e, label in rate_ticks(x_span)
        ],
        "y_ticks": [(y_of(e), power_text(e)) for e in _every(y_span, 6)],
        "half": y_of(-1),
    }


def _labels(numbered: Iterable[tuple[Point, int]]) -> list[Label]:
    """One label per cluster of points, on the first side of it where it covers nothing."""
    clusters: list[list[tuple[Point, int]]] = []
    for point, number in numbered:
        for cluster in clusters:
            if any(abs(point.x - p.x) < _NEAR and abs(point.y - p.y) < _NEAR for p, _ in cluster):
                cluster.append((point, number))
                break
        else:
            clusters.append([(point, number)])
    taken = [(p.x - 4, p.y - 4, p.x + 4, p.y + 4) for cluster in clusters for p, _ in cluster]
    return [_placed(cluster, taken) for cluster in clusters]


def _placed(cluster: list[tuple[Point, int]], taken: list[Rectangle]) -> Label:
    """The label of a cluster; its rectangle is added to those `taken`."""
    numbers = ", ".join(str(number) for _, number in cluster)
    width = _DIGIT * len(numbers)
    left, right = min(p.x for p, _ in cluster), max(p.x for p, _ in cluster)
    top, bottom = min(p.y for p, _ in cluster), max(p.y for p, _ in cluster)
    middle, centre = (top + bottom) / 2 + 3.5, (left + right - width) / 2
    below = [(centre, bottom + 14 + 11 * row) for row in range(4)]
    sides = [(right + 6, middle), below[0], (centre, top - 6), (left - 6 - width, middle), *below[1:]]
    boxes = [(x, y - 8, x + width, y + 1) for x, y in sides]
    free = [k for k, box in enumerate(boxes) if _inside(box) and not any(_overlap(box, other) for other in taken)]
    best = free[0] if free else 0
    taken.append(boxes[best])
    return Label(round(sides[best][0], 1), round(sides[best][1], 1), numbers)


def _inside(box: Rectangle) -> bool:
    return box[0] >= SCATTER["left"] and box[1] >= 0 and box[2] <= SCATTER["width"] and box[3] <= SCATTER["height"]


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _every(span: tuple[int, int], most: int) -> list[int]:
    """At most about `most` whole exponents of a span, evenly spaced, always with -1 + k*step."""
    step = max(1, math.ceil((span[1] - span[0]) / most))
    return [e for e in range(span[0], span[1] + 1) if (e + 1) % step == 0]
