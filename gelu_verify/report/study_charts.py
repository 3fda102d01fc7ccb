"""Charts of a study: learning curves with their intervals, and sizes of differences on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from ..formats import DTYPES
from ..study.comparisons import UnitComparison
from ..study.study import Study
from ..study.units import FUNCTIONS
from .files import environment, inline
from .scales import rate_span, rate_ticks, scaled

Chart = dict[str, Any]
BOX = {"width": 440, "height": 250, "left": 46, "right": 10, "top": 8, "bottom": 30}
ROW, NAMES = 15, 228  # height of a row; width of its name
_COLOURS = {unit.name: place for place, unit in enumerate(FUNCTIONS)}


@dataclass(frozen=True)
class StudyMark:
    """A point of a row: its value, the number of its colour, whether it is filled, and its tooltip."""

    value: float
    place: int
    filled: bool
    text: str


def curves(study: Study, task: str, dtype: str) -> Chart | None:
    """Median loss on the test part by epoch, of all functions; the bands are intervals of 95 %."""
    found = study.curves[(study.curves["task"] == task) & (study.curves["dtype"] == dtype)]
    groups = [(name, group) for name, group in found.groupby("unit", sort=False) if name in _COLOURS]
    known = [float(v) for _, group in groups for v in group[["low", "high"]].to_numpy().ravel() if math.isfinite(v)]
    if not known or min(known) <= 0:
        return None
    span, epochs = rate_span(known), (1.0, float(max(found["epoch"].max(), 2)))
    right, bottom = BOX["width"] - BOX["right"], BOX["height"] - BOX["bottom"]

    def points(group: pd.DataFrame, column: str) -> list[str]:
        return [
            f"{scaled(epoch, epochs, BOX['left'], right):g} {scaled(math.log10(value), span, bottom, BOX['top']):g}"
            for epoch, value in zip(group["epoch"], group[column], strict=True)
            if math.isfinite(value) and value > 0
        ]

    return {
        **{"kind": "lines", "title": f"{task}: loss on the test part by epoch, {dtype}", "box": BOX},
        "lines": [
            {
                "label": name,
                "place": _COLOURS[str(name)],
                "path": "M" + "L".join(points(group, "median")),
                "band": "M" + "L".join([*points(group, "low"), *reversed(points(group, "high"))]) + "z",
            }
            for name, group in groups
        ],
        "x_ticks": [(scaled(k, epochs, BOX["left"], right), str(k)) for k in _epochs(int(epochs[1]))],
        "y_ticks": [(scaled(at, span, bottom, BOX["top"]), label) for at, label in rate_ticks(span)],
        "x_title": "epoch",
    }


def _epochs(last: int) -> list[int]:
    step = next(k for k in (1, 2, 5, 10, 20, 50, 100) if last <= 8 * k)
    return [1, *range(step, last + 1, step)] if step > 1 else list(range(1, last + 1))


def differences(found: Sequence[UnitComparison], task: str) -> Chart | None:
    """Sizes of the median differences of kernels, over the loss of their baseline: filled where they are significant;
    the line of a row reaches to the smallest difference that would have been seen."""
    rows: dict[str, list[StudyMark]] = {}
    limits: dict[str, list[tuple[float, int]]] = {}
    for each in found:
        if each.task != task or each.question != "kernel" or not 0 < each.loss < math.inf:
            continue
        place = DTYPES.index(each.dtype)
        size = abs(each.difference.median) / each.loss
        sign = "more" if each.difference.median > 0 else "less"
        text = f"{each.unit}, {each.dtype}: {size:.2g} of the loss {sign}, adjusted p {each.adjusted:.2g}"
        rows.setdefault(each.unit, []).append(StudyMark(size, place, each.significant, text))
        if each.seen:
            limits.setdefault(each.unit, []).append((each.seen / each.loss, place))
    return _rows(f"{task}: difference of the median losses, as a share of the loss", rows, limits)


def shifts(study: Study, task: str) -> Chart | None:
    """Root mean square of what a kernel adds to outputs, over their standard deviation, for every kernel and dtype."""
    served = study.served[study.served["task"] == task]
    scale = study.networks.set_index("task")["output_std"].get(task)
    rows: dict[str, list[StudyMark]] = {}
    ordered = served.assign(size=served.groupby("target")["kernel_rms"].transform("max")).sort_values(
        ["function", "size", "target"], kind="stable"
    )
    for row in ordered.itertuples():
        size = row.kernel_rms / scale
        text = f"{row.target}, {row.dtype}: {size:.2g} of the standard deviation; {row.kernel_changed} other decisions"
        rows.setdefault(row.target, []).append(StudyMark(size, DTYPES.index(row.dtype), row.kernel_changed > 0, text))
    return _rows(f"{task}: what each kernel adds to the outputs, over their standard deviation", rows, {})


def _rows(
    title: str, rows: dict[str, list[StudyMark]], limits: dict[str, list[tuple[float, int]]], least: float = 1e-17
) -> Chart | None:
    values = [mark.value for marks in rows.values() for mark in marks]
    values += [value for found in limits.values() for value, _ in found]
    known = [value for value in values if 0 < value < math.inf]
    if not known:
        return None
    low, high = math.floor(math.log10(max(min(known), least))), math.ceil(math.log10(max(known)) + 1e-9)
    high = max(high, low + 1) + (1 if math.inf in values else 0)
    span = low - max(1.0, (high - low) / 10), float(high)  # zeros have a place of their own, on the left
    width, top = 612, 8
    bottom = top + ROW * len(rows)

    def x_of(value: float) -> float:
        exponent = span[0] if value <= 0 else span[1] if math.isinf(value) else math.log10(value)
        return scaled(min(max(exponent, span[0]), span[1]), span, NAMES + 8, width - 12)

    step = max(1, math.ceil((span[1] - span[0]) / 8))
    ticks = [(x_of(0), "0"), *((x_of(10.0**k), f"1e{k}") for k in range(low, high + 1, step))]
    return {
        **{"kind": "rows", "title": title, "box": {"width": width, "height": bottom + 24}},
        **{"bottom": bottom, "top": top, "x_ticks": ticks, "names": NAMES},
        "rows": [
            {
                "name": name,
                "y": top + ROW * (place + 0.5),
                "marks": [(x_of(m.value), m.place, m.filled, m.text) for m in sorted(marks, key=lambda m: -m.place)],
                "limits": [(x_of(value), of) for value, of in limits.get(name, ())],
            }
            for place, (name, marks) in enumerate(rows.items())
        ],
        "dtypes": DTYPES,
    }


def svg(chart: Chart, *, alone: bool = False) -> Markup:
    """A chart as SVG; `alone`: as a file of its own, with its style."""
    style = inline("study_chart.css") if alone else ""
    return Markup(environment().get_template("study_chart.html").render(c=chart, alone=alone, style=style))
