"""The whole study: networks trained with searched learning rates, and served; what is finished is not done again."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import machine
from ..errors import one_of
from ..formats import DTYPES
from ..measure.identity import identity
from ..work.executors import Pool
from ..work.observer import SILENT, Observer
from .finished import DATA, Finished, Result, StudyJob, finished_in
from .inside import AMOUNTS
from .jobs import ServingJob, TrainingJob
from .known import kernels, outputs_of
from .rates import RateSearch, least
from .tasks import DATA_SETS, TASKS, TEXT, VARIANTS, load_task
from .training import Start
from .units import FUNCTIONS, UNITS, targets

SETS = (0, 1)  # of runs, which have no random number in common
RUNS = 20  # of a set
DTYPE = "float32"  # of activations; kernels are trained in each dtype but float64, and gelu in all
VARIED = ("gelu", "relu", "elu", "silu")  # the activations on VARIANTS
TEXT_RATE = 1e-3  # not searched
PACKAGES = ("gelu-verify", "numpy", "scikit-learn")
_COMPUTE = ("arithmetic", "tasks", "units", "network", "training", "inside", "inference", "jobs")  # decide results


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
    asked = _some("unit", None if units is None else _whole(units), tuple(UNITS))
    with_baselines = {"gelu", *asked, *(UNITS[name].baseline for name in asked)}
    return StudyPlan(
        tasks=_some("task", tasks, TASKS),
        units=tuple(name for name in UNITS if name in with_baselines),
        dtypes=_some("dtype", None if dtypes is None else [*dtypes, "float64"], DTYPES),
        runs=runs,
        seed=seed,
    )


def _whole(names: Sequence[str]) -> list[str]:
    """Names of units that have a comma, together again: a list of names is split at each."""
    text = ",".join(names)
    for name in UNITS:
        text = text.replace(name.replace(", ", ","), name)
    return re.split(",(?! )", text)


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
    cells = [
        RateSearch(which, task, unit, DTYPE, plan.runs_of(which), plan.seed)
        for which in SETS
        for task, unit in plan.functions
    ]
    while jobs := {cell: job for cell in cells if (job := cell.next_job())}:
        for (cell, job), result in zip(jobs.items(), finished.all_of(list(jobs.values()), observer), strict=True):
            cell.add(job, result)
    rates = {
        (cell.which, cell.task, run): rate
        for cell in cells
        if cell.unit == "gelu"
        for run, rate in cell.usual().items()
    }
    serving, training = list(_serving_jobs(plan, rates)), list(_kernel_jobs(plan, rates))
    asked: list[StudyJob] = [job for _, job in serving]
    done = finished.all_of([*asked, *(job for _, job in training)], observer)
    in_use = list(zip(serving, done, strict=False))
    return Study(
        plan=plan,
        origin={**_origin(digests), "cost": finished.cost},
        **_function_frames(cells),
        kernels=_frame(
            _row(which, job, *_network(job, result, index))
            for (which, job), result in zip(training, done[len(serving) :], strict=True)
            for index in range(len(job.starts))
        ),
        networks=_frame({"set": which, "run": job.start.run, **each["network"]} for (which, job), each in in_use),
        served=_frame(
            {"set": which, "run": job.start.run, **row} for (which, job), each in in_use for row in each["rows"]
        ),
    )


Rates = Mapping[tuple[int, str, int], float]
"""Of gelu, for a set, a task and a run."""


def _serving_jobs(plan: StudyPlan, rates: Rates) -> Iterator[tuple[int, ServingJob]]:
    for task in reversed(plan.served):
        for which in SETS:
            run = plan.runs_of(which)[0]
            start = Start(run, TEXT_RATE if task == TEXT else rates[which, task, run])
            yield which, ServingJob(task, start, plan.dtypes, plan.seed)


def _kernel_jobs(plan: StudyPlan, rates: Rates) -> Iterator[tuple[int, TrainingJob]]:
    for which in SETS:
        for task, unit, dtype in plan.kernels:
            starts = tuple(Start(run, rates[which, task, run]) for run in plan.runs_of(which))
            yield which, TrainingJob(task, unit, dtype, starts, plan.seed, inside=False)


def _function_frames(cells: Sequence[RateSearch]) -> dict[str, pd.DataFrame]:
    """What the searches tried, and the networks at the best rate of each run."""
    chosen = [
        (cell, job, *_network(job, cell.results[place], index))
        for cell in cells
        for place, index in cell.best()
        for job in (cell.jobs[place],)
    ]
    return {
        "tuning": _frame(row for cell in cells for row in cell.rows()),
        "functions": _frame(_row(cell.which, job, start, of) for cell, job, start, of in chosen),
        "curves": _frame(
            {**cell.names(start.run), "epoch": epoch, "validation": np.float32(loss)}
            for cell, _, start, of in chosen
            for epoch, loss in enumerate(of["validation"], 1)
        ),
        "layers": _frame(
            {**cell.names(start.run), **{k: v if k == "layer" else np.float32(v) for k, v in row.items()}}
            for cell, _, start, of in chosen
            for row in of["layers"]
        ),
        "noise": _frame(
            {**cell.names(start.run), "amount": amount, "loss": loss, "error": np.float32(error)}
            for cell, _, start, of in chosen
            for amount, (loss, error) in zip(AMOUNTS, of["noise"], strict=True)
        ),
    }


def _network(job: TrainingJob, result: Result, index: int) -> tuple[Start, Result]:
    """One network of a job: how it began, and what was found of it."""
    return job.starts[index], {name: values[index] for name, values in result.items() if name != "seconds"}


def _row(which: int, job: TrainingJob, start: Start, of: Result) -> dict[str, Any]:
    curve = of["validation"]
    return {
        "set": which, "task": job.task, "unit": job.unit, "dtype": job.dtype, "run": start.run, "rate": start.rate,
        "epoch": of["epoch"], "epochs": len(curve), "validation": least(curve), "loss": of["loss"],
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
