"""Geometry of the charts of accuracy against speed: points, error bars, the Pareto line, labels that do not collide.

Only numbers and path strings: the template draws them, and escapes every text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from ..show.chart import decades, octave_ticks, rate_ticks
from .ranking import Row
from .scales import scaled

BOX = {"width": 560, "height": 330, "left": 52, "right": 18, "top": 22, "bottom": 40}
LOWEST, HIGHEST = -2, 30  # octaves of the error axis
_LETTER = 5.6  # width of a letter of a label
_LINE = 11  # its height

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class TimedPoint:
    """One timed result."""

    x: float
    y: float
    left: float  # ends of the error bar: half of the interquartile range on either side
    right: float
    row: Row


def pareto_chart(rows: Sequence[Row], copies: Iterable[float]) -> dict[str, Any]:
    """Largest absolute error (`units`, log2) against elements per second (`rate`, log10) of rows of the ranked table.

    `copies` are the rates of a memory copy beside each. A row without an error lies on the upper edge.
    """
    timed = [row for row in rows if row["rate"]]
    copy = median(found) if (found := list(copies)) else None
    x_span = decades([*(row["rate"] for row in timed), *([copy] if copy else [])]).span
    octaves = [_octave(row["units"]) for row in timed]
    y_span = min(-2, math.floor(min(octaves))), max(2, math.ceil(max(octaves)))
    right, bottom = BOX["width"] - BOX["right"], BOX["height"] - BOX["bottom"]

    def x_of(rate: float) -> float:
        return scaled(math.log10(rate), x_span, BOX["left"], right)

    def y_of(octave: float) -> float:
        return scaled(octave, y_span, bottom, BOX["top"])

    points = []
    for row, octave in zip(timed, octaves, strict=True):
        away = (row["spread"] or 0.0) / 2
        slow, fast = row["rate"] * max(1 - away, 0.1), row["rate"] * (1 + away)
        points.append(TimedPoint(x_of(row["rate"]), y_of(octave), x_of(slow), min(x_of(fast), right), row))
    front = pareto_front(points)
    return {
        "box": BOX,
        "points": points,
        "line": _step_line(front, bottom),
        "labels": place_labels(points, front),
        "copy_at": x_of(copy) if copy else None,
        "x_ticks": [(x_of(10**e), label) for e, label in rate_ticks(x_span)],
        "y_ticks": [(y_of(e), label) for e, label in octave_ticks(y_span, 8)],
        "half": y_of(-1),
    }


def _octave(units: float | None) -> float:
    if units is None or not math.isfinite(units):
        return HIGHEST
    return min(max(math.log2(units) if units > 0 else LOWEST, LOWEST), HIGHEST)


def pareto_front(points: Sequence[TimedPoint]) -> list[TimedPoint]:
    """Points that none beats in both: not slower and more accurate, from the fastest on; broken ones do not count."""
    front: list[TimedPoint] = []
    for point in sorted(points, key=lambda p: (-p.x, -p.y)):
        if point.row["grade"] != "broken" and (not front or point.y > front[-1].y):
            front.append(point)
    return front


def _step_line(front: Sequence[TimedPoint], bottom: float) -> str:
    """What is reached at least at each speed; errors fall towards the bottom."""
    if not front:
        return ""
    path = f"M{front[0].x:g} {BOX['top']}V{front[0].y:g}"
    for point in front[1:]:
        path += f"H{point.x:g}V{point.y:g}"
    return path + f"H{BOX['left']}"


# ---- labels --------------------------------------------------------------------------------------


def place_labels(points: Sequence[TimedPoint], front: Sequence[TimedPoint]) -> list[dict[str, Any]]:
    """Names beside points, each at the first side where it covers nothing; one that has no room is left out.

    The Pareto line's come first, then the plainest names.
    """
    taken: list[Rectangle] = [(p.x - 5, p.y - 5, p.x + 5, p.y + 5) for p in points]
    on_front = {id(point) for point in front}
    first = sorted(points, key=lambda p: (id(p) not in on_front, len(p.row["target"]), p.row["target"]))
    labels, named = [], set[str]()
    for point in first:
        name = point.row["target"]
        place = _free_place(point, name, taken) if name not in named else None
        if place is not None:
            named.add(name)
            taken.append(_rectangle(*place, name))
            labels.append({"x": round(place[0], 1), "y": round(place[1], 1), "name": name, "row": point.row})
    return labels


def _free_place(point: TimedPoint, name: str, taken: Sequence[Rectangle]) -> tuple[float, float] | None:
    width = len(name) * _LETTER
    for distance in (0, 9, 18):
        for x, y in (
            (point.x + 8 + distance / 2, point.y + 3.5),
            (point.x - width - 8 - distance / 2, point.y + 3.5),
            (point.x - width / 2, point.y - 8 - distance),
            (point.x - width / 2, point.y + 16 + distance),
            (point.x + 6, point.y - 7 - distance),
            (point.x + 6, point.y + 14 + distance),
            (point.x - width - 6, point.y - 7 - distance),
            (point.x - width - 6, point.y + 14 + distance),
        ):
            box = _rectangle(x, y, name)
            if _inside(box) and not any(overlap(box, other) for other in taken):
                return x, y
    return None


def _rectangle(x: float, y: float, name: str) -> Rectangle:
    return x, y - _LINE + 2, x + len(name) * _LETTER, y + 2


def _inside(box: Rectangle) -> bool:
    inside_x = box[0] >= BOX["left"] + 2 and box[2] <= BOX["width"] - 2
    return inside_x and box[1] >= BOX["top"] - 10 and box[3] <= BOX["height"] - BOX["bottom"] - 1


def overlap(a: Rectangle, b: Rectangle) -> bool:
    """Whether two rectangles share a point."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
