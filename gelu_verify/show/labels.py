"""Where texts stand inside a chart: each beside what it names, and on nothing that is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .chart import Chart, Curve, Mark, Point, ReferenceLine

LETTER, LINE = 5.6, 11  # width of a letter, height of a line
Box = tuple[float, float, float, float]
"""left, top, right, bottom"""
Segment = tuple[float, float, float, float]
"""x, y of one end and of the other."""
Place = tuple[float, float, str]
"""x, y of the base line, and the anchor: start, middle or end."""


def box_of(place: Place, text: str) -> Box:
    """What a text covers."""
    x, y, anchor = place
    lines = text.split("\n")
    wide = LETTER * max(map(len, lines))
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[anchor]
    return left, y - LINE + 2, left + wide, y + 2 + LINE * (len(lines) - 1)


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes share a point."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def crosses(line: Segment, box: Box) -> bool:
    """Whether a segment goes through a box."""
    x, y, x1, y1 = line
    left, top, right, bottom = box
    if max(x, x1) < left or min(x, x1) > right or max(y, y1) < top or min(y, y1) > bottom:
        return False
    sides = [(x1 - x) * (b - y) - (y1 - y) * (a - x) for a in (left, right) for b in (top, bottom)]
    return min(sides) <= 0 <= max(sides)


class Drawn:
    """What a chart draws, and the texts that have found a place: a new text covers none of it."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.boxes: list[Box] = [_spot(chart, mark) for mark in chart.marks]
        self.boxes += [box_of((note.x, note.y, "start"), note.text) for note in chart.labels]

    @cached_property
    def lines(self) -> list[Segment]:
        """Of curves and reference lines; many charts have no text that needs a place."""
        return list(_lines(self.chart))

    def is_free(self, box: Box) -> bool:
        """Whether it covers nothing, and lies in the chart."""
        chart = self.chart
        if box[0] < chart.left + 2 or box[2] > chart.width - 2 or box[3] > chart.height - chart.bottom - 1:
            return False
        if box[1] < chart.top - (0 if chart.y.title else 10):
            return False
        return not any(overlap(box, other) for other in self.boxes) and not any(crosses(x, box) for x in self.lines)

    def first_free(self, places: Iterable[Place], text: str) -> Place | None:
        """The first of these places where the text covers nothing; taken from then on."""
        for place in places:
            box = box_of(place, text)
            if self.is_free(box):
                self.boxes.append(box)
                return place
        return None

    def of_mark(self, mark: Mark) -> Place | None:
        """Beside the point, on the side that it asks for if that is free."""
        return self.first_free(around(self.chart.x_of(mark.x), self.chart.y_of(mark.y), mark.side), mark.label)

    def of_rule(self, rule: ReferenceLine) -> Place | None:
        """Along a line across, above or below it, as near to its end as it goes."""
        chart, y = self.chart, self.chart.y_of(rule.at)
        wide, left, right = LETTER * len(rule.label), chart.left + 4, chart.width - chart.right - 4
        steps = range(max(1, int((right - left - wide) // 6)))
        along = [(right - 6 * k, "end") if rule.at_end else (left + 6 * k, "start") for k in steps]
        return self.first_free(((x, y + dy, anchor) for x, anchor in along for dy in (-4, 12)), rule.label)


def around(x: float, y: float, side: str = "right", farthest: int = 18) -> Iterator[Place]:
    """Places beside a point, the wanted side first, then farther and farther away."""
    for away in range(0, farthest + 1, 9):
        near: dict[str, Place] = {
            "above": (x, y - 8 - away, "middle"),
            "below": (x, y + 16 + away, "middle"),
            "right": (x + 8 + away / 2, y + 3.5, "start"),
            "left": (x - 8 - away / 2, y + 3.5, "end"),
        }
        yield near.pop(side)
        yield from near.values()
        for dy in (-7 - away, 14 + away):
            yield from ((x + 6, y + dy, "start"), (x - 6, y + dy, "end"))


# ---- what is drawn -------------------------------------------------------------------------------


def _lines(chart: Chart) -> Iterator[Segment]:
    left, right, bottom = chart.left, chart.width - chart.right, chart.height - chart.bottom
    for curve in chart.curves:
        yield from _curve(chart, curve)
    for rule in chart.rules:
        x, y = chart.x_of(rule.at), chart.y_of(rule.at)
        yield (x, chart.top, x, bottom) if rule.axis == "x" else (left, y, right, y)
    if chart.y.has_zero and chart.y.span[0] < 0 < chart.y.span[1]:
        yield left, chart.y_of(0), right, chart.y_of(0)
    for mark in chart.marks:
        if mark.reach:
            y = chart.y_of(mark.y)
            yield chart.x_of(mark.reach[0]), y, chart.x_of(mark.reach[1]), y


def _curve(chart: Chart, curve: Curve) -> Iterator[Segment]:
    places = [(chart.x_of(x), math.nan if math.isnan(y) else chart.y_of(y)) for x, y in curve.points]
    corners = _stairs(chart, places) if curve.kind == "stairs" else places
    if curve.kind == "area":
        corners = [
            (x, y) for (_, y), pair in zip(places, pairwise(places), strict=False) for x in (pair[0][0], pair[1][0])
        ]
    yield from ((*a, *b) for a, b in pairwise(corners) if a[1] == a[1] and b[1] == b[1])


def _stairs(chart: Chart, places: Sequence[Point]) -> list[Point]:
    if not places:
        return []
    corners = [(places[0][0], float(chart.top)), places[0]]
    for (_, y), (x, below) in pairwise(places):
        corners += [(x, y), (x, below)]
    return [*corners, (float(chart.left), places[-1][1])]


def _spot(chart: Chart, mark: Mark) -> Box:
    x, y, r = chart.x_of(mark.x), chart.y_of(mark.y), mark.size + 0.8
    return x - r, y - r, x + r, y + r
