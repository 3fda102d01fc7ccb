"""The whole study: networks trained with searched learning rates, and served; what is finished is not done again."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import machine
from ..errors import one_of
from ..fenv import in_default_environment
from ..formats import DTYPES
from ..measure.identity import identity
from ..work.executors import Pool
from ..work.observer import SILENT, Observer
from .finished import DATA, Finished, Result, StudyJob, finished_in
from .inference import serve
from .inside import AMOUNTS, by_layer, under_noise
from .known import kernels, outputs_of
from .tasks import DATA_SETS, SOURCES, TASKS, TEXT, VARIANTS, load_task
from .training import Start, train
from .units import FUNCTIONS, UNITS, targets

SETS = (0, 1)  # of runs, which have no random number in common
RUNS = 20  # of a set
DTYPE = "float32"  # of activations; kernels are trained in each dtype but float64, and gelu in all
VARIED = ("gelu", "relu", "elu", "silu")  # the activations on VARIANTS
TEXT_RATE = 1e-3  # not searched
ADAM, DESCENT = (-6, -5, -4), (-3, -2, -1)  # exponents that a search begins with: a rate is 10^(exponent/2)
LOWEST, HIGHEST = -12, 2
PACKAGES = ("gelu-verify", "numpy", "scikit-learn")
_COMPUTE = ("arithmetic", "tasks", "units", "network", "training", "inside", "inference")  # what decides results


@dataclass(frozen=True)
class StudyPlan:
    """What is trained: two sets of `runs` networks of each unit, dtype and task; the splits of the data, all initial
    parameters and the order of the examples come from `seed`."""

    tasks: tuple[str, ...] = TASKS
    units: tuple[str, ...] = tuple(UNITS)
    dtypes: tuple[str, ...] = DTYPES
    runs: int = RUNS
    seed: int = 0

    def runs_of(self, which: int) -> tuple[int, ...]:
        """The runs of a set."""
        return tuple(range(which * self.runs, (which + 1) * self.runs))

    @property
    def served(self) -> tuple[str, ...]:
        """The tasks whose network is served with all kernels."""
        return tuple(task for task in self.tasks if task not in VARIANTS)

    @property
    def functions(self) -> tuple[tuple[str, str], ...]:
        """Tasks and units that are trained with rates of their own."""
        names = [unit.name for unit in FUNCTIONS if unit.name in self.units]
        return tuple(
            (task, name)
            for task in self.tasks
            for name in names
            if task in DATA_SETS or (task in VARIANTS and name in VARIED)
        )

    @property
    def kernels(self) -> tuple[tuple[str, str, str], ...]:
        """Tasks, units and dtypes that are trained with the rates of gelu."""
        own = {unit.name for unit in FUNCTIONS} - {"gelu"}
        return tuple(
            (task, name, dtype)
            for task in self.tasks
            if task in DATA_SETS
            for name in self.units
            if name not in own
            for dtype in self.dtypes
            if dtype in UNITS[name].dtypes and (dtype != "float64" or name == "gelu")
        )


def plan_of(
    tasks: Sequence[str] | None, units: Sequence[str] | None, dtypes: Sequence[str] | None, runs: int, seed: int
) -> StudyPlan:
    """The plan of what was asked for (None: all), in the order of the lists, with all that it is compared with."""
    asked = _some("unit", units, tuple(UNITS))
    with_baselines = {"gelu", *asked, *(UNITS[name].baseline for name in asked)}
    return StudyPlan(
        tasks=_some("task", tasks, TASKS),
        units=tuple(name for name in UNITS if name in with_baselines),
        dtypes=_some("dtype", None if dtypes is None else [*dtypes, "float64"], DTYPES),
        runs=runs,
        seed=seed,
    )


def _some(kind: str, names: Sequence[str] | None, accepted: tuple[str, ...]) -> tuple[str, ...]:
    for name in names or ():
        if name not in accepted:
            raise one_of(kind, name, list(accepted))
    return tuple(name for name in accepted if names is None or name in names)


@dataclass(frozen=True, eq=False)
class Study:
    """What was found, as frames; `set` 0 or 1 and `run` are columns of each.

    `tuning` (task, unit, rate, validation); `functions` and `kernels` (task, unit, dtype, rate, epoch, epochs,
    validation, loss, error, diverged); `curves` (task, unit, epoch, validation); `layers` (task, unit, and the fields
    of `inside.by_layer`); `noise` (task, unit, amount, loss, error); `networks` and `served` (the fields of
    `inference.Trained64` and `Served`)."""

    plan: StudyPlan
    origin: Mapping[str, Any]
    tuning: pd.DataFrame
    functions: pd.DataFrame
    kernels: pd.DataFrame
    curves: pd.DataFrame
    layers: pd.DataFrame
    noise: pd.DataFrame
    networks: pd.DataFrame
    served: pd.DataFrame


@dataclass(frozen=True)
class TrainingJob:
    """Networks of a unit in a dtype on a task; `inside`: whether it is also looked into them."""

    task: str
    unit: str
    dtype: str
    starts: tuple[Start, ...]
    seed: int
    inside: bool

    @property
    def label(self) -> str:
        return f"{self.task}: {self.unit} {self.dtype}"

    @in_default_environment
    def __call__(self) -> dict[str, Any]:
        splits = {run: load_task(self.task, self.seed, run) for run in {start.run for start in self.starts}}
        tasks = [splits[start.run] for start in self.starts]
        found = train(tasks, UNITS[self.unit], self.dtype, self.seed, self.starts)
        with np.errstate(all="ignore"):
            y = np.stack([task.test.y for task in tasks])
            outputs = found.passes.outputs(found.layers, np.stack([task.test.x for task in tasks]))
            result = {
                "validation": found.validation,
                "epoch": found.epoch.tolist(),
                "loss": found.passes.loss(outputs, y).tolist(),
                "error": found.passes.error(outputs, y).tolist(),
            }
            if self.inside:
                result["noise"] = under_noise(found, tasks, self.seed, self.starts)
                result["layers"] = [
                    by_layer(found, place, task, self.seed, start.run)
                    for place, (task, start) in enumerate(zip(tasks, self.starts, strict=True))
                ]
        return result


@dataclass(frozen=True)
class ServingJob:
    """A network that is trained once, served with all kernels."""

    task: str
    start: Start
    dtypes: tuple[str, ...]
    seed: int

    @property
    def label(self) -> str:
        return f"{self.task}: served with all kernels"

    def __call__(self) -> dict[str, Any]:
        network, rows = serve(load_task(self.task, self.seed, self.start.run), self.start, self.seed, self.dtypes)
        return {"network": network, "rows": rows}


def run_study(plan: StudyPlan, folder: Path, executor: Callable[[], Pool], observer: Observer = SILENT) -> Study:
    """Carry out a plan. Finished parts are kept under `folder`/finished: what is interrupted goes on where it was.

    The same plan gives the same frames, bit for bit, on machines of one kind, whichever executor carries it out.
    `executor` is called once something is to be computed.
    """
    digests = {task: load_task(task, plan.seed, 0).digest for task in plan.tasks}
    facts = {**identity(DATA), "code of gelu-verify": _code(), "kernels": " ".join(_kernels())}
    with finished_in(folder / "finished", facts, observer.warn) as journal:
        return _carried_out(plan, digests, Finished(journal, executor, outputs_of(kernels()), digests), observer)


def _carried_out(plan: StudyPlan, digests: Mapping[str, str], finished: Finished, observer: Observer) -> Study:
    cells = [_Search(plan, which, task, unit) for which in SETS for task, unit in plan.functions]
    while jobs := {cell: job for cell in cells if (job := cell.next_job())}:
        for (cell, job), found in zip(jobs.items(), finished.all_of(list(jobs.values()), observer), strict=True):
            cell.add(job, found)
    rates = {
        (cell.which, cell.task, run): rate
        for cell in cells
        if cell.unit == "gelu"
        for run, rate in cell.usual().items()
    }
    trained: list[tuple[int, TrainingJob]] = []
    for which in SETS:
        for task, unit, dtype in plan.kernels:
            starts = tuple(Start(run, rates[which, task, run]) for run in plan.runs_of(which))
            trained.append((which, TrainingJob(task, unit, dtype, starts, plan.seed, inside=False)))
    served: list[tuple[int, ServingJob]] = []
    for task in reversed(plan.served):
        for which in SETS:
            run = plan.runs_of(which)[0]
            start = Start(run, TEXT_RATE if task == TEXT else rates[which, task, run])
            served.append((which, ServingJob(task, start, plan.dtypes, plan.seed)))
    asked: list[StudyJob] = [*(job for _, job in served), *(job for _, job in trained)]
    done = finished.all_of(asked, observer)
    in_use, results = done[: len(served)], done[len(served) :]
    chosen = [
        (cell, run, *_network(cell.jobs[place], cell.results[place], index))
        for cell in cells
        for run, (place, index) in cell.best().items()
    ]
    return Study(
        plan=plan,
        origin={**_origin(digests), "cost": finished.cost},
        tuning=_frame(row for cell in cells for row in cell.rows()),
        functions=_frame(_row(cell.which, job, start, of) for cell, _, job, start, of in chosen),
        kernels=_frame(
            _row(which, job, *_network(job, result, index)[1:])
            for (which, job), result in zip(trained, results, strict=True)
            for index in range(len(job.starts))
        ),
        curves=_frame(
            {**cell.names(run), "epoch": epoch, "validation": np.float32(loss)}
            for cell, run, _, _, of in chosen
            for epoch, loss in enumerate(of["validation"], 1)
        ),
        layers=_frame(
            {**cell.names(run), **{k: v if k == "layer" else np.float32(v) for k, v in row.items()}}
            for cell, run, _, _, of in chosen
            for row in of["layers"]
        ),
        noise=_frame(
            {**cell.names(run), "amount": amount, "loss": loss, "error": np.float32(error)}
            for cell, run, _, _, of in chosen
            for amount, (loss, error) in zip(AMOUNTS, of["noise"], strict=True)
        ),
        networks=_frame(
            {"set": which, "run": job.start.run, **each["network"]}
            for (which, job), each in zip(served, in_use, strict=True)
        ),
        served=_frame(
            {"set": which, "run": job.start.run, **row}
            for (which, job), each in zip(served, in_use, strict=True)
            for row in each["rows"]
        ),
    )


class _Search:
    """The search for the learning rate of every run of a set, for a unit on a task, by the validation loss.

    It begins with three rates and goes on, run by run, on the side where the best one is the last, until the best has
    neighbours on both sides or the search is at LOWEST or HIGHEST."""

    def __init__(self, plan: StudyPlan, which: int, task: str, unit: str) -> None:
        self.which, self.task, self.unit = which, task, unit
        self.jobs: list[TrainingJob] = []
        self.results: list[Result] = []
        self._plan = plan
        self._tried: dict[int, dict[int, tuple[float, tuple[int, int]]]] = {run: {} for run in plan.runs_of(which)}

    def next_job(self) -> TrainingJob | None:
        """What is to be trained next; None at the end."""
        wanted = [(run, exponent) for run in self._tried for exponent in self._next(run)]
        starts = tuple(Start(run, rate_of(exponent)) for run, exponent in wanted)
        return TrainingJob(self.task, self.unit, DTYPE, starts, self._plan.seed, inside=True) if starts else None

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
            self._tried[start.run][exponent] = (_least(curve), (len(self.jobs), index))
        self.jobs.append(job)
        self.results.append(found)

    def _best(self, run: int) -> int:
        """The exponent with the smallest validation loss, of equal ones the smallest."""
        tried = self._tried[run]
        return min(tried, key=lambda exponent: (tried[exponent][0], exponent))

    def best(self) -> dict[int, tuple[int, int]]:
        """By run, which job and which network of it."""
        return {run: tried[self._best(run)][1] for run, tried in self._tried.items()}

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


def _least(curve: Sequence[float]) -> float:
    return min((loss for loss in curve if math.isfinite(loss)), default=math.inf)


def _network(job: TrainingJob, result: Result, index: int) -> tuple[TrainingJob, Start, Result]:
    """One network of a job: how it began, and what was found of it."""
    return job, job.starts[index], {name: values[index] for name, values in result.items() if name != "seconds"}


def _row(which: int, job: TrainingJob, start: Start, of: Result) -> dict[str, Any]:
    curve = of["validation"]
    return {
        "set": which, "task": job.task, "unit": job.unit, "dtype": job.dtype, "run": start.run, "rate": start.rate,
        "epoch": of["epoch"], "epochs": len(curve), "validation": _least(curve), "loss": of["loss"],
        "error": of["error"], "diverged": not all(map(math.isfinite, curve)),
    }  # fmt: skip


def _frame(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


def _code() -> str:
    sources = b"".join((Path(__file__).parent / f"{name}.py").read_bytes() for name in _COMPUTE)
    return hashlib.sha256(sources).hexdigest()


def _kernels() -> list[str]:
    return sorted({each.version for each in targets().values()})


def _origin(digests: Mapping[str, str]) -> dict[str, Any]:
    return {"versions": machine.versions(PACKAGES), "machine": machine.machine(), "data": dict(digests)}
