"""Charts of a study: learning curves, changes with their intervals, noise, gradients, and sizes of differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from ..formats import DTYPES
from ..show.chart import Axis, Chart, Curve, Mark, Outline, ReferenceLine, decades, linear, number
from ..study.questions import Answer
from ..study.study import SETS, Study
from ..study.tasks import DATA_SETS, VARIANTS
from ..study.units import FUNCTIONS
from .study_text import change_text

ROW, NAMES = 15, 228  # height of a row; width of its name
_COLOURS = {unit.name: place for place, unit in enumerate(FUNCTIONS)}
_OUTLINES: dict[str, Outline] = dict(zip(DTYPES, get_args(Outline), strict=True))
_KEY = [Curve(label=name, colour=place, kind="dots", outline=_OUTLINES[name]) for place, name in enumerate(DTYPES)]
_SET_OUTLINES: tuple[Outline, ...] = ("circle", "square")
_SET_KEY = [
    Curve(label=name, colour=which, kind="dots", outline=_SET_OUTLINES[which])
    for which, name in zip(SETS, ("first set of runs", "second set"), strict=True)
]
_BEYOND = 1.0  # a change of more than all of it, or an interval, ends at the edge of the chart


def curves(study: Study, task: str) -> Chart | None:
    """The smallest validation loss so far by epoch, of all functions: medians of all runs, quartiles of gelu."""
    found = study.curves[study.curves["task"] == task]
    if found.empty:
        return None
    last = int(found["epoch"].max())
    losses = found.replace([np.inf, -np.inf], np.nan).pivot(
        index=["unit", "set", "run"], columns="epoch", values="validation"
    )
    best = losses.cummin(axis=1).ffill(axis=1).stack().rename("best").reset_index()
    return _by(
        best, "epoch", "best", f"{task}: the smallest validation loss so far, by epoch",
        Axis((1.0, float(max(last, 2))), [(k, str(k)) for k in _epochs(last)], "epoch"),
        lambda values: decades(values, "validation loss"),
    )  # fmt: skip


def _epochs(last: int) -> list[int]:
    step = next(k for k in (1, 2, 5, 10, 20, 50, 100) if last <= 8 * k)
    return [1, *range(step, last + 1, step)] if step > 1 else list(range(1, last + 1))


def changes(found: Sequence[Answer], title: str) -> Chart | None:
    """The changes that answers of one topic speak of, with their intervals, in both sets; filled where both show it."""
    if not found:
        return None
    topic = found[0].question.topic
    ends = [abs(end) for each in found for of in each.sets for end in of.change if math.isfinite(end)]
    reach = min(_BEYOND, 1.05 * max(ends, default=0.0)) or _BEYOND
    marks, rows = [], []
    for row, each in enumerate(found, 1):
        question = each.question
        rows.append(f"{question.subject}, {question.where}" if question.where else question.subject)
        for which, of in zip(SETS, each.sets, strict=True):
            change = change_text(topic, of.change)
            marks.append(
                Mark(
                    x=of.change.estimate, y=-row + (0.16 - 0.32 * which), colour=which, size=3.2,
                    text=f"{rows[-1]}, beside {question.beside}: {change}, adjusted p {of.adjusted:.2g}",
                    shape="dot" if each.direction else "ring", outline=_SET_OUTLINES[which],
                    reach=(of.change.low, of.change.high),
                )
            )  # fmt: skip
    ticks = [(at, f"{number(float(f'{100 * at:.6g}'))} %") for at, _ in linear(-reach, reach).ticks]
    return Chart(
        title=title,
        x=linear(-reach, reach, "change", ticks),
        y=Axis((-len(rows) - 0.5, -0.5), [(-at, name) for at, name in enumerate(rows, 1)], "question"),
        curves=_SET_KEY, marks=marks, rules=[ReferenceLine(0.0, "x")],
        width=480, height=48 + 20 * len(rows), left=NAMES + 8, right=24, top=8, bottom=34,
        attributes={"class": "chart wide"},
    )  # fmt: skip


def activation_changes(found: Sequence[Answer]) -> dict[str, Chart]:
    """Of activations beside gelu: on the data sets, and where digits are learned in other ways."""
    asked = [each for each in found if each.question.topic == "activation"]
    parts = {
        "data": ([each for each in asked if each.question.where in DATA_SETS], "Test loss beside gelu"),
        "variants": ([each for each in asked if each.question.where in VARIANTS], "Test loss beside gelu, digits"),
    }
    return {name: chart for name, (these, title) in parts.items() if (chart := changes(these, title))}


def kernel_changes(found: Sequence[Answer]) -> Chart | None:
    """Of approximations and kernels beside their function."""
    return changes([each for each in found if each.question.topic == "kernel"], "Test loss beside what is approximated")


def noise(study: Study, task: str) -> Chart | None:
    """The share of wrong decisions by the size of the noise, of all functions."""
    found = study.noise[study.noise["task"] == task] if len(study.noise) else study.noise
    if found.empty or found["error"].isna().all():
        return None
    clean = study.functions[study.functions["task"] == task].assign(amount=0.0)
    return _by(
        pd.concat([found, clean]), "amount", "error", f"{task}: wrong decisions under noise on the inputs",
        Axis((0.0, float(found["amount"].max())), [(a, f"{a:g}") for a in sorted({0.0, *found["amount"]})], "a"),
        lambda values: linear(0.0, 1.05 * max(values), "share of wrong decisions"),
    )  # fmt: skip


def gradients(study: Study, task: str) -> Chart | None:
    """The size of the gradient by layer, before the training."""
    found = study.layers[study.layers["task"] == task] if len(study.layers) else study.layers
    if found.empty:
        return None
    last = int(found["layer"].max())
    return _by(
        found, "layer", "gradient_first", f"{task}: gradient by layer, before the training",
        Axis((1.0, float(last)), [(k, str(k)) for k in _epochs(last)], "layer"),
        lambda values: decades(values, "root mean square of the gradient"),
    )  # fmt: skip


def _by(
    frame: pd.DataFrame, over: str, column: str, title: str, x: Axis, y: Callable[[Sequence[float]], Axis]
) -> Chart:
    """Medians of all runs, quartiles of gelu as a band."""
    drawn, known = [], []
    middle = frame.groupby(["unit", over])[column].median()
    quartiles = frame[frame["unit"] == "gelu"].groupby(over)[column].quantile([0.25, 0.75]).unstack()
    for unit in (name for name in _COLOURS if name in middle.index):
        points = [(float(at), float(value)) for at, value in middle[unit].items()]
        band = [(float(at), *ends) for at, *ends in quartiles.itertuples()] if unit == "gelu" else []
        known += [value for _, *values in (*points, *band) for value in values]
        drawn.append(Curve(label=unit, points=points, colour=_COLOURS[unit], band=band))
    return Chart(title=title, x=x, y=y([value for value in known if value > 0]), curves=drawn, top=18)


def shifts(study: Study, task: str) -> Chart | None:
    """Root mean square of what a kernel adds to outputs, over their standard deviation, for every kernel and dtype;
    of the network of the first set."""
    served = study.served[(study.served["task"] == task) & (study.served["set"] == SETS[0])]
    scale = study.networks[study.networks["set"] == SETS[0]].set_index("task")["output_std"].get(task)
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
