"""A trend as one HTML page: four small charts of each result over the runs, and its numbers in a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import __version__
from ..buckets.bins import HIGHEST
from ..compare.trend import Trend, TrendPoint, TrendSeries
from ..records.grades import GRADES, ORDER
from .comparison_text import run_text
from .curves import octaves_of
from .files import environment, inline
from .scales import rate_span, rate_ticks, scaled
from .text import power_text
from .trend_text import HEAD, name_of, rows, summary

Chart = dict[str, Any]
BOX = {"width": 300, "height": 116, "left": 92, "right": 8, "top": 8, "bottom": 8}
LOWEST = -2  # octaves of the error axis
FARTHEST = 64.0  # |x| at the ends of the axis of ranges
_TICKS = (-64, -16, -4, -1, 0, 1, 4, 16, 64)
_MOST = 5  # ticks


def trend_page(trend: Trend) -> str:
    """The page as one string: no network, no script."""
    return environment().get_template("trend.html").render(
        version=__version__,
        headline=summary(trend),
        runs=[run_text(run) for run in trend.runs],
        head=HEAD,
        series=[_series(trend, each) for each in trend.series],
        box=BOX,
        style=inline("page.css") + inline("comparison.css"),
    )  # fmt: skip


def _series(trend: Trend, series: TrendSeries) -> dict[str, Any]:
    table = [row.cells for row in rows(trend, series)]
    return {"name": name_of(series), "charts": _charts(trend, series), "rows": table, "changes": series.changes}


def _charts(trend: Trend, series: TrendSeries) -> list[Chart]:
    charts = [_errors(series), _grades(series), _ranges(series), _speeds(series)]
    return [_drawn(trend, series, chart) for chart in charts if chart["lines"]]


def _errors(series: TrendSeries) -> Chart:
    """Largest error, log2."""
    known = np.array([point.max_ulp for point in series.points if point.max_ulp], float)
    span = octaves_of([known], LOWEST, HIGHEST)
    step = max(1, math.ceil((span[1] - span[0]) / _MOST))
    ticks = [(float(k), power_text(k)) for k in range(span[0], span[1] + 1, step)]
    line = [
        _of(point.max_ulp, lambda ulp: min(max(math.log2(ulp) if ulp else LOWEST, *span[:1]), span[1]))
        for point in series.points
    ]
    return {"title": "largest error, ULP", "span": span, "ticks": ticks, "lines": _known([line]), "has_bound": True}


def _grades(series: TrendSeries) -> Chart:
    """The best grade at the upper edge."""
    last = len(ORDER) - 1
    ticks = [(float(last - place), GRADES[grade].word) for grade, place in ORDER.items()]  # type: ignore[index]
    line = [_of(point.grade, lambda grade: float(last - ORDER[grade])) for point in series.points]
    return {"title": "grade", "span": (0, last), "ticks": ticks, "lines": _known([line]), "has_bound": True}


def _ranges(series: TrendSeries) -> Chart:
    """Both ends of where it is accurate; more than 64 is drawn as 64."""
    found = [point.accurate_range for point in series.points]
    ends = [[_signed(getattr(each, end)) if each else None for each in found] for end in ("low", "high")]
    span = _signed(-FARTHEST), _signed(FARTHEST)
    return {
        "title": "accurate from, to (x)",
        "span": span,
        "ticks": [(_signed(x), f"{x:g}") for x in _TICKS],
        "lines": _known(ends),
        "has_bound": True,
    }


def _signed(x: float) -> float:
    """log2(1 + |x|) with the sign of x."""
    return math.copysign(math.log2(1 + min(abs(x), FARTHEST)), x)


def _speeds(series: TrendSeries) -> Chart:
    """Elements per second, log10."""
    rates = [point.elements_per_s for point in series.points if point.elements_per_s]
    if not rates:
        return {"lines": []}
    span = rate_span(rates)
    line = [_of(point.elements_per_s, lambda rate: math.log10(rate) if rate else None) for point in series.points]
    return {
        "title": "elements per second",
        "span": span,
        "ticks": rate_ticks(span),
        "lines": [line],
        "has_bound": False,
    }


def _of(value: Any, place: Callable[[Any], float | None]) -> float | None:
    return None if value is None else place(value)


def _known(lines: Sequence[list[float | None]]) -> list[list[float | None]]:
    return [line for line in lines if any(value is not None for value in line)]


def _drawn(trend: Trend, series: TrendSeries, chart: Chart) -> Chart:
    """Paths and points of a chart: one place for each run; where a run has no value, the line has a gap."""
    bottom, right = BOX["height"] - BOX["bottom"], BOX["width"] - BOX["right"]
    x_span = (0.0, float(max(len(trend.runs) - 1, 1)))

    def at(point: TrendPoint, value: float) -> tuple[float, float]:
        x = scaled(point.run, x_span, BOX["left"] + 6, right - 6)
        return x, scaled(value, chart["span"], bottom, BOX["top"])

    sampled = [point.bound == ">=" and chart["has_bound"] for point in series.points]
    places = [
        [None if v is None else at(p, v) for p, v in zip(series.points, line, strict=True)] for line in chart["lines"]
    ]
    return {
        "title": chart["title"],
        "ticks": [(scaled(value, chart["span"], bottom, BOX["top"]), label) for value, label in chart["ticks"]],
        "lines": [
            {"path": _path(line), "points": [each for each in zip(line, sampled, strict=True) if each[0]]}
            for line in places
        ],
    }


def _path(places: Sequence[tuple[float, float] | None]) -> str:
    path, is_open = [], False
    for place in places:
        if place:
            path.append(f"{'L' if is_open else 'M'}{place[0]:g} {place[1]:g}")
        is_open = place is not None
    return "".join(path)
