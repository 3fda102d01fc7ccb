"""The search for a learning rate, run by run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .finished import Result
from .jobs import TrainingJob
from .tasks import SOURCES
from .training import Start

ADAM, DESCENT = (-6, -5, -4), (-3, -2, -1)  # exponents that a search begins with: a rate is 10^(exponent/2)
LOWEST, HIGHEST = -12, 2


class RateSearch:
    """The search for the learning rate of every run of a set, for a unit on a task, by the validation loss.

    It begins with three rates and goes on, run by run, on the side where the best one is the last, until the best has
    neighbours on both sides or the search is at LOWEST or HIGHEST."""

    def __init__(self, which: int, task: str, unit: str, dtype: str, runs: Sequence[int], seed: int) -> None:
        self.which, self.task, self.unit = which, task, unit
        self.jobs: list[TrainingJob] = []
        self.results: list[Result] = []
        self._dtype, self._seed = dtype, seed
        self._tried: dict[int, dict[int, tuple[float, tuple[int, int]]]] = {run: {} for run in runs}

    def next_job(self) -> TrainingJob | None:
        """What is to be trained next; None at the end."""
        wanted = [(run, exponent) for run in self._tried for exponent in self._next(run)]
        starts = tuple(Start(run, rate_of(exponent)) for run, exponent in wanted)
        return TrainingJob(self.task, self.unit, self._dtype, starts, self._seed, inside=True) if starts else None

    def _next(self, run: int) -> Sequence[int]:
        tried = self._tried[run]
        if not tried:
            return ADAM if SOURCES[self.task].network.momentum is None else DESCENT
        best = self._best(run)
        if best == min(tried) > LOWEST:
            return (best - 1,)
        return (best + 1,) if best == max(tried) < HIGHEST else ()

    def add(self, job: TrainingJob, found: Result) -> None:
        for index, (start, curve) in enumerate(zip(job.starts, found["validation"], strict=True)):
            exponent = round(2 * math.log10(start.rate))
            self._tried[start.run][exponent] = (least(curve), (len(self.jobs), index))
        self.jobs.append(job)
        self.results.append(found)

    def _best(self, run: int) -> int:
        """The exponent with the smallest validation loss, of equal ones the smallest."""
        tried = self._tried[run]
        return min(tried, key=lambda exponent: (tried[exponent][0], exponent))

    def best(self) -> list[tuple[int, int]]:
        """For each run, which job and which network of it."""
        return [tried[self._best(run)][1] for run, tried in self._tried.items()]

    def usual(self) -> dict[int, float]:
        """By run, the rate that most of the other runs have, of equal ones the smallest: what is trained at it was not
        chosen by its own validation loss."""
        best = {run: self._best(run) for run in self._tried}
        found = {}
        for run in best:
            counted = Counter(exponent for other, exponent in best.items() if other != run)
            found[run] = rate_of(min(counted, key=lambda exponent: (-counted[exponent], exponent)))
        return found

    def names(self, run: int) -> dict[str, Any]:
        return {"set": self.which, "task": self.task, "unit": self.unit, "run": run}

    def rows(self) -> Iterator[dict[str, Any]]:
        for run, tried in self._tried.items():
            for exponent in sorted(tried):
                yield {**self.names(run), "rate": rate_of(exponent), "validation": tried[exponent][0]}


def rate_of(exponent: int) -> float:
    """10^(exponent/2), to three digits."""
    return float(f"{10 ** (exponent / 2):.3g}")


def least(curve: Sequence[float]) -> float:
    return min((loss for loss in curve if math.isfinite(loss)), default=math.inf)
