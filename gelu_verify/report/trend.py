"""A trend as a document, four small charts and a table for each result; and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..buckets.bins import HIGHEST
from ..compare.trend import Trend, TrendPoint, TrendSeries
from ..records.claims import error_text, grade_text, range_text
from ..records.grades import GRADES, ORDER
from ..show.chart import Axis, Chart, Curve, Mark, Outline, decades, number, octaves
from ..show.document import Block, Details, Document, Figures, Items, Section, Text, TextTable
from .axis import octaves_of
from .comparison_text import name_of, run_text
from .text import NONE, rate_text

HEAD = ("runs", "grade", "accurate for", "max ULP", "max abs", "speed", "verdict")
LOWEST = -2  # octaves of the error axis
FARTHEST = 64.0  # |x| at the ends of the axis of ranges
_TICKS = (-64, -16, -4, 0, 4, 16, 64)
_OUTLINES: tuple[Outline, ...] = ("circle", "diamond")
_MEANING = (
    "Each chart has one place for every run, the oldest on the left; a filled point is of all inputs, an open one of a "
    "sample. In a table, runs that follow each other and found the same, bit for bit, share a row."
)


def trend_document(trend: Trend) -> Document:
    """A section for each result that changed; the others are folded."""
    changed = [_section(trend, each) for each in trend.series if each.changes]
    still = [each for each in trend.series if not each.changes]
    rows = [(name_of(series), *row) for series in still for row in _rows(trend, series)]
    folded: list[Block] = [TextTable(("result", *HEAD), rows, "results that did not change")]
    folded += [Section(name_of(each), [Figures(_charts(trend, each))]) for each in still]
    runs = Items([run_text(run) for run in trend.runs])
    blocks: list[Block] = [
        Text(_MEANING, "lead"), *changed,
        Details(f"{len(still)} results that did not change", folded if still else []), Details("Runs", [runs]),
    ]  # fmt: skip
    return Document(title="trend", headline=summary(trend), blocks=blocks)


def trend_blocks(trend: Trend, most: int | None) -> Iterator[Block]:
    """For a terminal: a table of each result, or of the first ones that changed; then how many changed."""
    shown = [each for each in trend.series if most is None or each.changes]
    for series in shown[:most]:
        yield Section(name_of(series), [_table(trend, series)])
    if most is not None and len(shown) > most:
        yield Text(f"and {len(shown) - most} more results that changed (--details)", "note")
    yield Text(summary(trend), "bold")


def _section(trend: Trend, series: TrendSeries) -> Section:
    return Section(name_of(series), [Figures(_charts(trend, series)), _table(trend, series)])


def _table(trend: Trend, series: TrendSeries) -> TextTable:
    return TextTable(HEAD, list(_rows(trend, series)), f"{name_of(series)} over the runs")


def _rows(trend: Trend, series: TrendSeries) -> Iterator[tuple[str, ...]]:
    """One row for each change, the newest last."""
    starts = [0, *(at for at in range(1, len(series.points)) if series.differs(at)), len(series.points)]
    for first, end in pairwise(starts):
        point, last = series.points[first], series.points[end - 1]
        yield (
            _when(trend.runs[point.run].created, trend.runs[last.run].created, end - first),
            grade_text(point.grade, point.grade_bound) if point.grade else NONE,
            range_text(series.dtype, point.accurate_range, point.bound) or NONE,
            error_text(point.max_ulp, point.bound),
            NONE if point.max_abs_error is None else f"{point.max_abs_error:.3g}",
            _speed(series.points[first:end]),
            point.verdict or "",
        )


def _when(first: str, last: str, count: int) -> str:
    """ "2026-11-22 14:33", or from then to another day or time."""
    start, end = (each.replace("T", " ")[:16] for each in (first, last))
    if count == 1:
        return start
    return f"{start} to {end[11:] if start[:10] == end[:10] else end}, {count} runs"


def _speed(points: Sequence[TrendPoint]) -> str:
    rates = sorted(point.elements_per_s for point in points if point.elements_per_s)
    if not rates:
        return NONE
    slowest, fastest = rate_text(rates[0]), rate_text(rates[-1])
    return slowest if slowest == fastest else f"{slowest} to {fastest}"


def summary(trend: Trend) -> str:
    """How many results changed between any of the runs."""
    changed = sum(bool(each.changes) for each in trend.series)
    total = len(trend.series)
    runs = f"{len(trend.runs)} run{'' if len(trend.runs) == 1 else 's'}"
    return f"{runs}; {changed} of {total} result{'' if total == 1 else 's'} changed or cannot be compared."


# ---- charts --------------------------------------------------------------------------------------


def _charts(trend: Trend, series: TrendSeries) -> list[Chart]:
    charts = [_errors, _grades, _ranges, _speeds]
    return [chart for make in charts if (chart := make(trend, series)) and any(each.points for each in chart.curves)]


def _chart(
    trend: Trend,
    series: TrendSeries,
    title: str,
    axis: Axis,
    values: Mapping[str, Callable[[TrendPoint], Any]],
    bound: Callable[[TrendPoint], str | None] = lambda point: point.bound,
) -> Chart:
    """One place for each run; where a run has no value, the line has a gap. `values`: what is drawn, by its label;
    `bound`: whether that is of all inputs."""
    curves, marks = [], []
    for colour, (label, value) in enumerate(values.items()):
        points = [(float(point.run), value(point), bound(point)) for point in series.points]
        known = [
            Mark(x=x, y=y, colour=colour, outline=_OUTLINES[colour], size=2.4,
                 shape="ring" if of == ">=" else "dot")
            for x, y, of in points if y is not None
        ]  # fmt: skip
        line = [(x, math.nan if y is None else y) for x, y, _ in points] if known else []
        curves.append(Curve(label=label, points=line, colour=colour))
        marks += known
    last = float(max(len(trend.runs) - 1, 1))
    return Chart(
        title=title, name=f"{title} over the runs; the table below has the numbers", curves=curves, marks=marks,
        x=Axis((-0.02 * last, 1.02 * last), title="runs, the oldest first"), y=axis, width=300, height=138, left=92,
        right=8, bottom=20,
    )  # fmt: skip


def _errors(trend: Trend, series: TrendSeries) -> Chart:
    known = np.array([point.max_ulp for point in series.points if point.max_ulp], float)
    axis = octaves(octaves_of([known], LOWEST, HIGHEST), "ULP", most=5)
    return _chart(trend, series, "largest error", axis, {"": lambda point: point.max_ulp})


def _grades(trend: Trend, series: TrendSeries) -> Chart:
    """The best grade at the upper edge."""
    last = len(ORDER) - 1
    ticks = [(float(last - place), GRADES[grade].word) for grade, place in ORDER.items()]  # type: ignore[index]

    def place(point: TrendPoint) -> float | None:
        return float(last - ORDER[point.grade]) if point.grade else None

    return _chart(trend, series, "grade", Axis((0, last), ticks, "grade"), {"": place}, lambda point: point.grade_bound)


def _ranges(trend: Trend, series: TrendSeries) -> Chart:
    """Both ends of where it is accurate; more than 64 is drawn as 64."""
    ticks = [(_signed(x), number(x)) for x in _TICKS]
    axis = Axis((_signed(-FARTHEST), _signed(FARTHEST)), ticks, "x", place=_signed)

    def low(point: TrendPoint) -> float | None:
        return point.accurate_range.low if point.accurate_range else None

    def high(point: TrendPoint) -> float | None:
        return point.accurate_range.high if point.accurate_range else None

    return _chart(trend, series, "accurate range", axis, {"up to": high, "from": low})


def _signed(x: float) -> float:
    """log2(1 + |x|) with the sign of x."""
    return math.copysign(math.log2(1 + min(abs(x), FARTHEST)), x)


def _speeds(trend: Trend, series: TrendSeries) -> Chart | None:
    rates = [point.elements_per_s for point in series.points if point.elements_per_s]
    if not rates:
        return None
    axis = decades(rates, "elements per second")
    return _chart(trend, series, "speed", axis, {"": lambda point: point.elements_per_s or None}, lambda point: None)


def trend_csv(trend: Trend) -> str:
    """One line for each result of each run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("target", "function", "dtype", "run", "created", "plan", "seed", "version", "n", "bound", "grade", "max_ulp",
         "accurate_from", "accurate_to", "max_abs_error", "elements_per_s", "spread", "results", "verdict")
    )  # fmt: skip
    for series in trend.series:
        for point in series.points:
            run, found = trend.runs[point.run], point.accurate_range
            writer.writerow(
                (series.target, series.function, series.dtype, run.name, run.created, run.plan, run.seed, point.version,
                 point.n, point.bound, point.grade, point.max_ulp, found and found.low, found and found.high,
                 point.max_abs_error, point.elements_per_s, point.spread, point.results, point.verdict)
            )  # fmt: skip
    return text.getvalue()
