"""A trend as rows of text, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ..compare.trend import Trend, TrendPoint, TrendSeries
from ..records.claims import error_text, grade_text, range_text
from .comparison_text import run_text
from .markdown_blocks import escape, folded, table
from .text import NONE, rate_text

HEAD = ("runs", "grade", "accurate for", "max ULP", "max abs", "speed", "results")
_RESULTS = {"first": "", "same": "same", "changed": "changed", "unknown": "not known"}


@dataclass(frozen=True)
class TrendRow:
    """Runs that follow each other and found the same, but for the speed."""

    first: int  # places in `Trend.runs`
    last: int
    count: int
    cells: tuple[str, ...]  # as HEAD


def rows(trend: Trend, series: TrendSeries) -> Iterator[TrendRow]:
    """One row for each change, the newest last."""
    starts = [0, *(at for at in range(1, len(series.points)) if series.differs(at)), len(series.points)]
    for first, end in pairwise(starts):
        yield _row(trend, series, first, end)


def _row(trend: Trend, series: TrendSeries, first: int, end: int) -> TrendRow:
    point, last = series.points[first], series.points[end - 1]
    speed = _speed(series.points[first:end])
    when = _when(trend.runs[point.run].created, trend.runs[last.run].created, end - first)
    return TrendRow(point.run, last.run, end - first, (when, *_cells(series, point), speed, _RESULTS[point.results]))


def _when(first: str, last: str, count: int) -> str:
    """ "2026-11-22 14:33", or from then to another day or time."""
    start, end = (each.replace("T", " ")[:16] for each in (first, last))
    if count == 1:
        return start
    return f"{start} to {end[11:] if start[:10] == end[:10] else end}, {count} runs"


def _cells(series: TrendSeries, point: TrendPoint) -> tuple[str, ...]:
    return (
        grade_text(point.grade, point.grade_bound) if point.grade else NONE,
        range_text(series.dtype, point.accurate_range, point.bound) or NONE,
        error_text(point.max_ulp, point.bound),
        NONE if point.max_abs_error is None else f"{point.max_abs_error:.3g}",
    )


def _speed(points: tuple[TrendPoint, ...]) -> str:
    rates = sorted(point.elements_per_s for point in points if point.elements_per_s)
    if not rates:
        return NONE
    return (
        rate_text(rates[0])
        if rate_text(rates[0]) == rate_text(rates[-1])
        else f"{rate_text(rates[0])} to {rate_text(rates[-1])}"
    )


def summary(trend: Trend) -> str:
    """How many results changed between any of the runs."""
    changed = sum(bool(each.changes) for each in trend.series)
    total = len(trend.series)
    runs = f"{len(trend.runs)} run{'' if len(trend.runs) == 1 else 's'}"
    return f"{runs}; {changed} of {total} result{'' if total == 1 else 's'} changed or cannot be compared."


def trend_markdown(trend: Trend) -> str:
    """A table for each result that changed; the others in one."""
    parts = ["# gelu-verify: trend\n", f"**{summary(trend)}**\n"]
    still = [each for each in trend.series if not each.changes]
    for series in trend.series:
        if series.changes:
            parts.append(f"### {escape(name_of(series))}\n")
            parts.append(table(HEAD, [row.cells for row in rows(trend, series)]))
    lines = [(name_of(series), *row.cells) for series in still for row in rows(trend, series)]
    parts.append(folded(f"{len(still)} results that did not change", table(("result", *HEAD), lines)))
    parts.append(folded("Runs", table(("run",), [(run_text(run),) for run in trend.runs])))
    return "\n".join(filter(None, parts))


def name_of(series: TrendSeries) -> str:
    """Target, function and dtype."""
    return f"{series.target} {series.function} {series.dtype}"


def trend_csv(trend: Trend) -> str:
    """One line for each result of each run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("target", "function", "dtype", "run", "created", "plan", "seed", "version", "n", "bound", "grade", "max_ulp",
         "accurate_from", "accurate_to", "max_abs_error", "elements_per_s", "spread", "results")
    )  # fmt: skip
    for series in trend.series:
        for point in series.points:
            run, found = trend.runs[point.run], point.accurate_range
            writer.writerow(
                (series.target, series.function, series.dtype, run.name, run.created, run.plan, run.seed, point.version,
                 point.n, point.bound, point.grade, point.max_ulp, found and found.low, found and found.high,
                 point.max_abs_error, point.elements_per_s, point.spread, point.results)
            )  # fmt: skip
    return text.getvalue()
