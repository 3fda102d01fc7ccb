"""Charts of a study: learning curves with their intervals, and sizes of differences on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import get_args

from ..formats import DTYPES
from ..show.chart import Axis, Chart, Curve, Mark, Outline, decades
from ..study.comparisons import UnitComparison
from ..study.study import Study
from ..study.units import FUNCTIONS

ROW, NAMES = 15, 228  # height of a row; width of its name
_COLOURS = {unit.name: place for place, unit in enumerate(FUNCTIONS)}
_OUTLINES: dict[str, Outline] = dict(zip(DTYPES, get_args(Outline), strict=True))
_KEY = [Curve(label=name, colour=place, kind="dots", outline=_OUTLINES[name]) for place, name in enumerate(DTYPES)]


def curves(study: Study, task: str, dtype: str) -> Chart | None:
    """Median loss on the test part by epoch, of all functions; the bands are intervals of 95 %."""
    found = study.curves[(study.curves["task"] == task) & (study.curves["dtype"] == dtype)]
    groups = [(str(name), group) for name, group in found.groupby("unit", sort=False) if name in _COLOURS]
    known = [float(v) for _, group in groups for v in group[["low", "high"]].to_numpy().ravel() if math.isfinite(v)]
    if not known or min(known) <= 0:
        return None
    last = max(int(found["epoch"].max()), 2)
    drawn = []
    for name, group in groups:
        table = group[["epoch", "median", "low", "high"]].to_numpy(float).tolist()
        band = [(at, low, high) for at, _, low, high in table if math.isfinite(low) and math.isfinite(high)]
        line = [(at, loss) for at, loss, *_ in table if math.isfinite(loss)]
        drawn.append(Curve(label=name, points=line, colour=_COLOURS[name], band=band))
    return Chart(
        title=f"{task}: loss on the test part by epoch, {dtype}",
        x=Axis((1.0, float(last)), [(k, str(k)) for k in _epochs(last)], "epoch"),
        y=decades(known, "loss on the test part"),
        curves=drawn,
    )


def _epochs(last: int) -> list[int]:
    step = next(k for k in (1, 2, 5, 10, 20, 50, 100) if last <= 8 * k)
    return [1, *range(step, last + 1, step)] if step > 1 else list(range(1, last + 1))


def differences(found: Sequence[UnitComparison], task: str) -> Chart | None:
    """Sizes of the median differences of kernels, over the loss of their baseline: filled where they are significant;
    a bar is the smallest difference that would have been seen."""
    rows: dict[str, list[Mark]] = {}
    for each in found:
        if each.task != task or each.question != "kernel" or not 0 < each.loss < math.inf:
            continue
        size, sign = abs(each.difference.median) / each.loss, "more" if each.difference.median > 0 else "less"
        text = f"{each.unit}, {each.dtype}: {size:.2g} of the loss {sign}, adjusted p {each.adjusted:.2g}"
        row = rows.setdefault(each.unit, [])
        row.append(_mark(len(rows), size, each.dtype, each.significant, text))
        if each.seen:
            row.append(Mark(x=each.seen / each.loss, y=-len(rows), colour=DTYPES.index(each.dtype), shape="bar",
                            outline=_OUTLINES[each.dtype]))  # fmt: skip
    return _rows(f"{task}: difference of the median losses", "|difference| / loss", rows)


def shifts(study: Study, task: str) -> Chart | None:
    """Root mean square of what a kernel adds to outputs, over their standard deviation, for every kernel and dtype."""
    served = study.served[study.served["task"] == task]
    scale = study.networks.set_index("task")["output_std"].get(task)
    rows: dict[str, list[Mark]] = {}
    ordered = served.assign(size=served.groupby("target")["kernel_rms"].transform("max")).sort_values(
        ["function", "size", "target"], kind="stable"
    )
    for row in ordered.itertuples():
        size = row.kernel_rms / scale
        text = f"{row.target}, {row.dtype}: {size:.2g} of the standard deviation; {row.kernel_changed} other decisions"
        of = rows.setdefault(row.target, [])
        of.append(_mark(len(rows), size, row.dtype, row.kernel_changed > 0, text))
    title = f"{task}: what each kernel adds to the outputs"
    return _rows(title, "root mean square / standard deviation", rows)


def _mark(row: int, size: float, dtype: str, is_filled: bool, text: str) -> Mark:
    return Mark(
        x=size, y=-row, colour=DTYPES.index(dtype), shape="dot" if is_filled else "ring", outline=_OUTLINES[dtype],
        size=3.4, text=text,
    )  # fmt: skip


def _rows(title: str, axis: str, rows: Mapping[str, Sequence[Mark]], least: float = 1e-17) -> Chart | None:
    """A row for each name."""
    values = [mark.x for marks in rows.values() for mark in marks]
    known = [value for value in values if 0 < value < math.inf]
    if not known:
        return None
    low, high = math.floor(math.log10(max(min(known), least))), math.ceil(math.log10(max(known)) + 1e-9)
    high = max(high, low + 1) + (1 if math.inf in values else 0)
    start = low - max(1.0, (high - low) / 10)  # zeros have a place of their own, on the left
    step = max(1, math.ceil((high - start) / 8))
    ticks = [(start, "0"), *((float(k), f"1e{k}") for k in range(low, high + 1, step))]

    def place(value: float) -> float:
        return start if value <= 0 else math.log10(value)

    return Chart(
        title=title,
        x=Axis((start, float(high)), ticks, axis, place=place),
        y=Axis((-len(rows) - 0.5, -0.5), [(-at, name) for at, name in enumerate(rows, 1)], "kernel"),
        curves=_KEY,
        marks=[mark for marks in rows.values() for mark in reversed(marks)],
        width=480, height=52 + ROW * len(rows), left=NAMES + 8, bottom=34, attributes={"class": "chart wide"},
    )  # fmt: skip
