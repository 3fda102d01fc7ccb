"""Accuracy against speed: points, error bars, the Pareto line, labels that do not collide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from ..show.chart import Axis, Chart, Curve, Mark, Note, ReferenceLine, decades, octave_ticks
from .ranking import Row, up_text
from .text import rate_text, ulp_text

LOWEST, HIGHEST = -2, 30  # octaves of the error axis
_LETTER = 5.6  # width of a letter of a label
_LINE = 11  # its height

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def pareto_chart(title: str, rows: Sequence[Row], copies: Iterable[float]) -> Chart:
    """Largest absolute error (`units`, log2) against elements per second (`rate`) of rows of the ranked table.

    `copies` are the rates of a memory copy beside each. A row without an error lies on the upper edge.
    """
    timed = [row for row in rows if row["rate"]]
    copy = [median(found)] if (found := list(copies)) else []
    front = pareto_front(timed)
    highest = max(2, *(math.ceil(_octave(row)) for row in timed))
    chart = Chart(
        title=f"{title}: error against speed",
        name=f"{title}: error against speed; the same numbers are in the table of results",
        x=decades([*(row["rate"] for row in timed), *copy], "elements per second"),
        y=Axis((LOWEST, highest), octave_ticks((LOWEST, highest), 8), "largest absolute error, u(max(1, |y|))"),
        rules=[ReferenceLine(-1), *(ReferenceLine(rate, "x", "copy") for rate in copy)],
        curves=[Curve(points=[(row["rate"], _octave(row)) for row in front], colour=2, kind="stairs")] if front else [],
        marks=[_mark(row) for row in timed],
        width=560, height=330, right=18, top=22, bottom=40, attributes={"role": "group"},
    )  # fmt: skip
    return replace(chart, labels=list(place_labels(chart, timed, front)))


def _octave(row: Row) -> float:
    units = row["units"]
    if units is None or not math.isfinite(units):
        return HIGHEST
    return min(max(math.log2(units) if units > 0 else LOWEST, LOWEST), HIGHEST)


def _mark(row: Row) -> Mark:
    """The error bar: half of the interquartile range on either side."""
    rate, away = row["rate"], (row["spread"] or 0.0) / 2
    repeats = "" if row["spread"] is None else f" ±{100 * away:.0f} %"
    size = f"{up_text(row['units'])} u, {ulp_text(row['max_ulp'], row['bound'])} ULP"
    return Mark(
        x=rate, y=_octave(row), reach=(rate * max(1 - away, 0.1), rate * (1 + away)), link=f"r={row['id']}",
        text=f"{row['target']}: {row['title']}; {size}; {rate_text(rate)}{repeats}", colour=None, size=4.2,
        shape="cross" if row["order"] >= 5 else "ring" if row["order"] >= 3 else "dot",
        attributes={"class": "pt", "data-r": row["id"], "data-c": row["place"]},
    )  # fmt: skip


def pareto_front(rows: Sequence[Row]) -> list[Row]:
    """Rows that none beats in both: not slower and more accurate, from the fastest on; broken ones do not count."""
    front: list[Row] = []
    for row in sorted(rows, key=lambda row: (-row["rate"], _octave(row))):
        if row["grade"] != "broken" and (not front or _octave(row) < _octave(front[-1])):
            front.append(row)
    return front


# ---- labels --------------------------------------------------------------------------------------


def place_labels(chart: Chart, rows: Sequence[Row], front: Sequence[Row]) -> Iterator[Note]:
    """Names beside points, each at the first side where it covers nothing; one that has no room is left out.

    The Pareto line's come first, then the plainest names.
    """
    points = [(chart.x_of(row["rate"]), chart.y_of(_octave(row)), row) for row in rows]
    taken: list[Rectangle] = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    taken += _lines(chart)
    on_front = {row["id"] for row in front}
    named = set[str]()
    for x, y, row in sorted(points, key=lambda p: (p[2]["id"] not in on_front, len(p[2]["target"]), p[2]["target"])):
        name = row["target"]
        place = _free_place(chart, (x, y), name, taken) if name not in named else None
        if place is not None:
            named.add(name)
            taken.append(_rectangle(*place, name))
            yield Note(round(place[0], 1), round(place[1], 1), name, attributes={"data-r": row["id"]})


def _lines(chart: Chart) -> Iterator[Rectangle]:
    """What is drawn across: error bars, reference lines, the Pareto line."""
    left, right, bottom = chart.left, chart.width - chart.right, chart.height - chart.bottom
    for mark in chart.marks:
        if mark.reach:
            yield _line(chart.x_of(mark.reach[0]), chart.y_of(mark.y), chart.x_of(mark.reach[1]), chart.y_of(mark.y))
    for rule in chart.rules:
        x, y = chart.x_of(rule.at), chart.y_of(rule.at)
        yield _line(x, chart.top, x, bottom) if rule.axis == "x" else _line(left, y, right, y)
    for curve in chart.curves:
        corners = [(chart.x_of(x), chart.y_of(y)) for x, y in curve.points]
        for (x, y), (end, _), (_, start) in zip(
            corners, [*corners[1:], (left, 0)], [(0, chart.top), *corners], strict=False
        ):
            yield _line(x, start, x, y)
            yield _line(end, y, x, y)


def _line(x: float, y: float, x1: float, y1: float) -> Rectangle:
    return x - 1, y - 1, x1 + 1, y1 + 1


def _free_place(
    chart: Chart, point: tuple[float, float], name: str, taken: Sequence[Rectangle]
) -> tuple[float, float] | None:
    px, py = point
    width = len(name) * _LETTER
    for distance in (0, 9, 18):
        for x, y in (
            (px + 8 + distance / 2, py + 3.5),
            (px - width - 8 - distance / 2, py + 3.5),
            (px - width / 2, py - 8 - distance),
            (px - width / 2, py + 16 + distance),
            (px + 6, py - 7 - distance),
            (px + 6, py + 14 + distance),
            (px - width - 6, py - 7 - distance),
            (px - width - 6, py + 14 + distance),
        ):
            box = _rectangle(x, y, name)
            if _is_inside(chart, box) and not any(overlap(box, other) for other in taken):
                return x, y
    return None


def _rectangle(x: float, y: float, name: str) -> Rectangle:
    return x, y - _LINE + 2, x + len(name) * _LETTER, y + 2


def _is_inside(chart: Chart, box: Rectangle) -> bool:
    inside_x = box[0] >= chart.left + 2 and box[2] <= chart.width - 2
    return inside_x and box[1] >= chart.top - 10 and box[3] <= chart.height - chart.bottom - 1


def overlap(a: Rectangle, b: Rectangle) -> bool:
    """Whether two rectangles share a point."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
