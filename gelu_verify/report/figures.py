"""The figures of a report as files for a paper: errors against x, accuracy against speed, the functions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from ..buckets.bins import FINEST, HIGHEST, layout
from ..fenv import in_default_environment
from ..records.accuracy import ACCURATE
from ..show.chart import Axis, Chart, Curve, Mark, Note, ReferenceLine, octaves
from ..show.figure import figure_pdf, figure_svg
from .axis import octaves_of, ticks
from .details import Curves, curves_of
from .files import replace_files
from .frames import FRAMES, RunLike, run_letter
from .gallery import gallery
from .ranking import RankedResult, items_of, places, ranked
from .speed import speed_groups

LOWEST = -3  # octaves: smaller errors are on the lower edge
MOST = 6  # curves in one figure, each with a colour and dashes of its own
_LIMITS = (0.5, ACCURATE)  # correctly rounded, accurate
_NOTE = "Made by `gelu-verify report --format svg`."


@in_default_environment
def write(runs: Sequence[RunLike], out: Path, form: str) -> list[Path]:
    """Write every figure into `out`, as "svg" or "pdf"."""
    return replace_files(
        {f"{name}.{form}": figure_pdf(chart) if form == "pdf" else figure_svg(chart, _NOTE)
         for name, chart in figures(runs).items()},
        out,
    )  # fmt: skip


def figures(runs: Sequence[RunLike]) -> dict[str, Chart]:
    """{name of its file: figure}."""
    items = items_of(runs)
    rows = [row for _, members in ranked(items, {}, len(runs) > 1) for row in members]
    speed = speed_groups(rows, FRAMES["throughput"](runs), FRAMES["sizes"](runs))
    charts = [
        *(("error", chart) for chart in _error_charts(items, curves_of(runs, items))),
        *(("speed", each["chart"]) for group in speed for each in group["charts"]),
        *(("sizes", each["chart"]) for group in speed for each in group["sizes"]),
        *(("drawn", chart) for chart in gallery()),
    ]
    return {
        "-".join([kind, *re.findall(r"\w+", chart.title.partition(":")[0].lower())]): chart for kind, chart in charts
    }


def _error_charts(items: Sequence[RankedResult], curves: Mapping[str, Curves]) -> Iterator[Chart]:
    order = places(items)
    measured = [item for item in items if item.id in curves]
    for _, members in groupby(measured, key=lambda item: (item.record.function, item.record.dtype)):
        first: dict[tuple[int, str], RankedResult] = {}  # the plainest of each library
        for item in sorted(members, key=lambda item: order[item.record.target]):
            first.setdefault((item.run, item.record.family), item)
        yield error_chart(list(first.values())[:MOST], curves)


def error_chart(items: Sequence[RankedResult], curves: Mapping[str, Curves]) -> Chart:
    """The largest error in each bin of x, of results of one function and dtype; a cross at the upper edge is NaN or
    infinity where a finite value is due."""
    record = items[0].record
    bins = layout(record.dtype, FINEST)
    folds = [curves[item.id].fine.into(bins) for item in items]
    highest = max(3, octaves_of([fold.max_error for fold in folds], LOWEST, HIGHEST)[1])
    chart = Chart(
        title=f"{record.function}, {record.dtype}: the largest error against x",
        x=Axis((0, bins.size), ticks(bins), "x, in the order of the floats"),
        y=octaves((LOWEST, highest), "largest error |E|, ULP", 8),
        rules=[ReferenceLine(limit) for limit in _LIMITS],
        curves=[
            Curve(label=_label(item), colour=colour, points=_levels(fold.max_error))
            for colour, (item, fold) in enumerate(zip(items, folds, strict=True))
        ],
        marks=[
            Mark(x=(first + last + 1) / 2, y=math.inf, colour=colour, shape="cross")
            for colour, fold in enumerate(folds)
            for first, last in fold.nonfinite_ranges()
        ],
        width=760, height=340, right=56, top=22,
    )  # fmt: skip
    edge = chart.width - chart.right + 4
    return replace(chart, labels=[Note(edge, chart.y_of(limit) + 3.5, f"{limit:g} ULP") for limit in _LIMITS])


def _label(item: RankedResult) -> str:
    return item.record.target + (f" [{run_letter(item.run)}]" if item.run else "")


def _levels(errors: np.ndarray) -> list[tuple[float, float]]:
    """Two for each bin, which is level; gaps where nothing was tried."""
    return [(float(at + end), y) for at, y in enumerate(errors.tolist()) for end in (0, 1)]
