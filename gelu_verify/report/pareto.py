"""Accuracy against speed: points, error bars, the Pareto line, labels that do not collide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from ..show.chart import Axis, Chart, Curve, Mark, Note, ReferenceLine, decades, octave_ticks
from ..show.labels import Drawn, around, box_of
from .ranking import Row, up_text
from .text import rate_text, ulp_text

LOWEST, HIGHEST = -2, 30  # octaves of the error axis


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
    drawn, on_front, named = Drawn(chart), {row["id"] for row in front}, set[str]()
    for row in sorted(rows, key=lambda row: (row["id"] not in on_front, len(row["target"]), row["target"])):
        name, at = row["target"], (chart.x_of(row["rate"]), chart.y_of(_octave(row)))
        place = drawn.first_free(around(*at), name) if name not in named else None
        if place is not None:
            named.add(name)
            yield Note(round(box_of(place, name)[0], 1), round(place[1], 1), name, attributes={"data-r": row["id"]})
