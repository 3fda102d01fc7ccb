"""What the trainings say: every unit beside its baseline, run by run, and what could not have been seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ..stochastic.binomial import holm
from .statistics import LEVEL, MedianInterval, bootstrap, detectable, signed_rank
from .units import FUNCTIONS, UNITS

Question = Literal["function", "kernel", "dtype"]
_FUNCTIONS = {unit.name for unit in FUNCTIONS}


@dataclass(frozen=True)
class UnitComparison:
    """Losses on the test part of `unit` in `dtype` minus those of `baseline` in `baseline_dtype`, paired by run.

    `difference`: its median and interval; `loss`: the median of the baseline; `p` of the signed-rank test and
    `adjusted` for all comparisons of the study (Holm); `seen`: the smallest shift that would be found with a
    probability of 80 %, None where so few runs can find nothing; `equal`: in how many runs the losses are the same
    float64; `diverged`: how many runs of unit and baseline end with a loss that is not finite."""

    question: Question
    task: str
    unit: str
    dtype: str
    baseline: str
    baseline_dtype: str
    runs: int
    loss: float
    spread: float
    difference: MedianInterval
    p: float
    adjusted: float
    seen: float | None
    equal: int
    diverged: tuple[int, int]

    @property
    def significant(self) -> bool:
        return self.adjusted <= LEVEL


def comparisons(trainings: pd.DataFrame) -> list[UnitComparison]:
    """All comparisons that the trainings permit: functions with gelu, kernels with their function correctly rounded,
    both in one dtype; and gelu in each dtype with gelu in float64."""
    losses = {key: group["loss"].to_numpy() for key, group in trainings.groupby(["task", "unit", "dtype"], sort=False)}
    pairs = [pair for pair in _pairs(losses) if (pair[1], pair[4], pair[5]) in losses]
    raw = []
    for _, task, unit, dtype, baseline, baseline_dtype in pairs:
        ours, theirs = losses[task, unit, dtype], losses[task, baseline, baseline_dtype]
        with np.errstate(invalid="ignore"):
            raw.append((ours, theirs, _finite(ours) - _finite(theirs)))
    probabilities = [signed_rank(difference) for _, _, difference in raw]
    adjusted = holm(probabilities)
    return [
        _comparison(pair, *values, p, corrected, len(pairs))
        for pair, values, p, corrected in zip(pairs, raw, probabilities, adjusted, strict=True)
    ]


def _pairs(keys: dict[tuple[str, str, str], np.ndarray]) -> Iterator[tuple[Question, str, str, str, str, str]]:
    for task, name, dtype in keys:
        if baseline := UNITS[name].baseline:
            yield "function" if name in _FUNCTIONS else "kernel", task, name, dtype, baseline, dtype
        elif dtype != "float64":
            yield "dtype", task, name, dtype, name, "float64"


def _comparison(
    pair: tuple[Question, str, str, str, str, str],
    ours: np.ndarray,
    theirs: np.ndarray,
    difference: np.ndarray,
    p: float,
    adjusted: float,
    tests: int,
) -> UnitComparison:
    known, finite = difference[np.isfinite(difference)], theirs[np.isfinite(theirs)]
    factor = detectable(len(difference), tests)
    return UnitComparison(
        *pair,
        runs=len(difference),
        loss=float(np.median(_finite(theirs))),
        spread=float(finite.std(ddof=1)) if len(finite) > 1 else math.nan,
        difference=bootstrap(np.where(np.isnan(difference), 0.0, difference)),
        p=p,
        adjusted=adjusted,
        seen=None if factor is None or len(known) < 2 else factor * float(known.std(ddof=1)),
        equal=int((ours == theirs).sum()),
        diverged=(int((~np.isfinite(ours)).sum()), int((~np.isfinite(theirs)).sum())),
    )


def _finite(losses: np.ndarray) -> np.ndarray:
    """A loss that is not finite is larger than every other."""
    return np.where(np.isfinite(losses), losses, np.inf)
