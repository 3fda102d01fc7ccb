"""The questions of the study, one test each; and their answers in each of the two sets of runs.

Every question compares two sides in every run: the same split of the data, initial parameters and order. It has one
number for each run, a mean over all that the question speaks of (data sets, dtypes, amounts of noise), and one
signed-rank test in each set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from ..stochastic.binomial import holm
from .statistics import LEVEL, Shift, shift, signed_rank
from .study import SETS, VARIED, Study, StudyPlan
from .tasks import DATA_SETS
from .units import FUNCTIONS, UNITS

Topic = Literal["kernel", "dtype", "activation", "training", "noise", "speed", "dead", "gradient", "normal"]
QUANTITIES: dict[Topic, str] = {
    "activation": "test loss",
    "kernel": "test loss",
    "dtype": "test loss",
    "training": "test loss",
    "noise": "test loss under noise",
    "speed": "epochs until the larger of the two smallest validation losses is reached",
    "dead": "share of dead units",
    "gradient": "gradient in the first of 16 layers over that in the last, before training",
    "normal": "distance of pre-activations from a normal law",
}
WIDEST = "float64"
_BASES = {  # how gelu is trained on digits, and what that is compared with
    "digits_2_layers": "digits",
    "digits_16_layers": "digits",
    "digits_dropout": "digits",
    "digits_batch_norm": "digits",
    "digits_momentum": "digits_descent",
}


@dataclass(frozen=True)
class StudyQuestion:
    """Whether the quantity of a topic differs between `subject` and `beside`, in `where`: a data set or a variant of
    one, or "" for the mean over all data sets.

    Losses are subtracted, and divided by the median loss of `beside`, or of both where the question is about several
    tasks, dtypes or amounts of noise; what is a ratio is compared by its logarithm; a share or a distance is
    subtracted."""

    topic: Topic
    subject: str
    beside: str
    where: str = ""

    @property
    def is_ratio(self) -> bool:
        return self.topic in ("speed", "gradient")


@dataclass(frozen=True)
class SetResult:
    """What one set of runs says: in how many runs the quantity is `lower` and `higher` than beside; the `change`, for a
    loss and a ratio as a share (0.1: a tenth more); `p` of the signed-rank test, and `adjusted` for all questions
    (Holm)."""

    runs: int
    lower: int
    higher: int
    change: Shift
    p: float
    adjusted: float

    @property
    def is_significant(self) -> bool:
        return self.adjusted <= LEVEL


@dataclass(frozen=True)
class Answer:
    """A question, and what each set of runs says."""

    question: StudyQuestion
    sets: tuple[SetResult, ...]  # of each set

    @property
    def direction(self) -> int:
        """-1 or 1 where both sets show a difference in that direction; else 0: nothing is claimed."""
        signs = {int(np.sign(each.change.estimate)) if each.is_significant else 0 for each in self.sets}
        return signs.pop() if len(signs) == 1 else 0


def answers(study: Study) -> list[Answer]:
    """All questions that can be asked of a study, with their answers."""
    asked = list(differences(study))
    of_sets = [set_results([(question, each[which]) for question, each in asked]) for which in SETS]
    return [Answer(question, each) for (question, _), each in zip(asked, zip(*of_sets, strict=True), strict=True)]


def set_results(asked: Sequence[tuple[StudyQuestion, np.ndarray]]) -> list[SetResult]:
    """The answers of one set of runs to the differences of each question, one for each run."""
    probabilities = [signed_rank(each) for _, each in asked]
    return [
        SetResult(
            runs=len(each),
            lower=int((each < 0).sum()),
            higher=int((each > 0).sum()),
            change=_change(question, each),
            p=p,
            adjusted=adjusted,
        )
        for (question, each), p, adjusted in zip(asked, probabilities, holm(probabilities), strict=True)
    ]


def _change(question: StudyQuestion, each: np.ndarray) -> Shift:
    found = shift(each)
    return Shift(*np.expm1(found).tolist()) if question.is_ratio else found


Differences = tuple[np.ndarray, ...]
"""Of each set, a number for each run."""


def differences(study: Study) -> Iterator[tuple[StudyQuestion, Differences]]:
    """All questions, with the differences of their runs."""
    of, tasks = _Values(study), study.plan.tasks
    yield from _of_arithmetic(of, study.plan)
    for task, unit in study.plan.functions:
        if unit != "gelu":
            question = StudyQuestion("activation", unit, "gelu", task)
            yield question, _shares([of.loss(task, unit)], [of.loss(task, "gelu")])
    for task, base in _BASES.items():
        if {task, base} <= set(tasks):
            question = StudyQuestion("training", task, base, "digits")
            yield question, _shares([of.loss(task, "gelu")], [of.loss(base, "gelu")])
    for unit in VARIED:
        if unit in study.plan.units and unit != "gelu":
            yield from _of_more_than_a_loss(of, tasks, unit)
    if {"digits", "digits_batch_norm"} <= set(tasks):
        ours, theirs = (of.inside(task, "gelu", "normal") for task in ("digits_batch_norm", "digits"))
        yield StudyQuestion("normal", "digits_batch_norm", "digits", "digits"), _subtracted([ours], [theirs])


def _of_arithmetic(of: _Values, plan: StudyPlan) -> Iterator[tuple[StudyQuestion, Differences]]:
    """Questions to approximations, kernels and dtypes."""
    tasks = _data_sets(plan.tasks)
    narrow = [dtype for dtype in plan.dtypes if dtype != WIDEST]
    for kernel in (UNITS[name] for name in plan.units if UNITS[name] not in FUNCTIONS):
        cells = [(task, dtype) for task in tasks for dtype in narrow if dtype in kernel.dtypes]
        if cells:
            sides = [[of.kernel(task, name, dtype) for task, dtype in cells] for name in (kernel.name, kernel.baseline)]
            yield StudyQuestion("kernel", kernel.name, kernel.baseline), _shares(*sides)
    for dtype in narrow if tasks else ():
        sides = [[of.kernel(task, "gelu", each) for task in tasks] for each in (dtype, WIDEST)]
        yield StudyQuestion("dtype", dtype, WIDEST), _shares(*sides)


def _of_more_than_a_loss(
    of: _Values, all_tasks: Sequence[str], unit: str
) -> Iterator[tuple[StudyQuestion, Differences]]:
    """Questions to an activation beside gelu: robustness, speed, dead units and gradients."""
    if "digits" in all_tasks:
        sides = [of.noise("digits", name) for name in (unit, "gelu")]
        yield StudyQuestion("noise", unit, "gelu", "digits"), _shares(*sides)
    if tasks := _data_sets(all_tasks):
        epochs = [of.epochs(task, unit, "gelu") for task in tasks]
        yield StudyQuestion("speed", unit, "gelu"), _ratios([a for a, _ in epochs], [b for _, b in epochs])
        sides = [[of.inside(task, name, "dead") for task in tasks] for name in (unit, "gelu")]
        yield StudyQuestion("dead", unit, "gelu"), _subtracted(*sides)
    if "digits_16_layers" in all_tasks:
        ours, theirs = (of.vanished("digits_16_layers", name) for name in (unit, "gelu"))
        yield StudyQuestion("gradient", unit, "gelu", "digits_16_layers"), _ratios([ours], [theirs])


def _data_sets(tasks: Sequence[str]) -> list[str]:
    return [task for task in DATA_SETS if task in tasks]


def kernel_shares(study: Study) -> Iterator[tuple[str, str, Differences]]:
    """What is behind the questions to kernels: for each and each dtype, the mean over all data sets."""
    of = _Values(study)
    tasks = _data_sets(study.plan.tasks)
    for kernel, dtype in dict.fromkeys((name, dtype) for _, name, dtype in study.plan.kernels if UNITS[name].baseline):
        ours, theirs = ([of.kernel(task, name, dtype) for task in tasks] for name in (kernel, UNITS[kernel].baseline))
        yield kernel, dtype, _shares(ours, theirs)


def _shares(ours: Sequence[Differences], theirs: Sequence[Differences]) -> Differences:
    """The mean over the cells of the differences, over a median; what is not finite is larger than all.

    The median is of theirs. Of several cells it is of both sides: a weight that changes where the sides of a run are
    exchanged would favour one direction."""
    found = []
    for which in SETS:
        cells = []
        for a, b in zip(ours, theirs, strict=True):
            first, second = (np.where(np.isfinite(of[which]), of[which], np.inf) for of in (a, b))
            scale = second if len(ours) == 1 else np.concatenate([first, second])
            with np.errstate(invalid="ignore"):
                cells.append((first - second) / np.median(scale[np.isfinite(scale)]))
        found.append(np.mean([np.where(np.isnan(cell), 0.0, cell) for cell in cells], 0))
    return tuple(found)


def _ratios(ours: Sequence[Differences], theirs: Sequence[Differences]) -> Differences:
    """The mean over the cells of the logarithms of the ratios."""
    found = []
    for which in SETS:
        with np.errstate(invalid="ignore", divide="ignore"):
            cells = [np.log(a[which]) - np.log(b[which]) for a, b in zip(ours, theirs, strict=True)]
        found.append(np.mean([np.where(np.isnan(cell), 0.0, cell) for cell in cells], 0))
    return tuple(found)


def _subtracted(ours: Sequence[Differences], theirs: Sequence[Differences]) -> Differences:
    """The mean over the cells of the differences."""
    return tuple(np.mean([a[which] - b[which] for a, b in zip(ours, theirs, strict=True)], 0) for which in SETS)


class _Values:
    """What the questions compare: for each set, an array over its runs."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def loss(self, task: str, unit: str) -> Differences:
        return self._losses[task, unit]

    def kernel(self, task: str, unit: str, dtype: str) -> Differences:
        return self._kernels[task, unit, dtype]

    def noise(self, task: str, unit: str) -> list[Differences]:
        """For each amount of noise."""
        return [values for key, values in self._noise.items() if key[:2] == (task, unit)]

    def inside(self, task: str, unit: str, column: str) -> Differences:
        """The mean over the hidden layers."""
        return tuple(self._by_layer(task, unit, column).mean(-1))

    def vanished(self, task: str, unit: str) -> Differences:
        """The gradient in the first layer over that in the last, before the training."""
        found = self._by_layer(task, unit, "gradient_first")
        return tuple(found[..., 0] / found[..., -1])

    def epochs(self, task: str, unit: str, other: str) -> tuple[Differences, Differences]:
        """The first epochs at which both have a validation loss as small as the worse of their best ones."""
        pairs = list(zip(self._curves[task, unit], self._curves[task, other], strict=True))
        common = [max(a.min(initial=np.inf), b.min(initial=np.inf)) for a, b in pairs]
        ours, theirs = (
            [
                float(np.argmax(pair[place] <= c)) + 1 if c < np.inf else np.inf
                for pair, c in zip(pairs, common, strict=True)
            ]
            for place in (0, 1)
        )
        return _of_sets(np.array(ours)), _of_sets(np.array(theirs))

    def _by_layer(self, task: str, unit: str, column: str) -> np.ndarray:
        """(sets, runs, layers)."""
        rows = self._study.layers[(self._study.layers["task"] == task) & (self._study.layers["unit"] == unit)]
        ordered: np.ndarray = rows.sort_values(["set", "run", "layer"])[column].to_numpy(float)
        return ordered.reshape(len(SETS), -1, rows["layer"].max())

    @cached_property
    def _losses(self) -> dict[tuple[str, ...], Differences]:
        return _by(self._study.functions, ["task", "unit"])

    @cached_property
    def _kernels(self) -> dict[tuple[str, ...], Differences]:
        return _by(self._study.kernels, ["task", "unit", "dtype"])

    @cached_property
    def _noise(self) -> dict[tuple[str, ...], Differences]:
        return _by(self._study.noise, ["task", "unit", "amount"])

    @cached_property
    def _curves(self) -> dict[tuple[str, ...], list[np.ndarray]]:
        """Of each run, those of the first set first."""
        ordered = self._study.curves.sort_values(["set", "run", "epoch"], kind="stable")
        return {
            key: np.split(rows["validation"].to_numpy(float), np.flatnonzero(rows["epoch"].to_numpy() == 1)[1:])
            for key, rows in ordered.groupby(["task", "unit"], sort=False)
        }


def _by(frame: pd.DataFrame, names: list[str]) -> dict[tuple[str, ...], Differences]:
    """The losses of a frame, by the values of some columns."""
    ordered = frame.sort_values(["set", "run"], kind="stable")
    return {key: _of_sets(rows["loss"].to_numpy(float)) for key, rows in ordered.groupby(names, sort=False)}


def _of_sets(values: np.ndarray) -> Differences:
    return tuple(values.reshape(len(SETS), -1))
