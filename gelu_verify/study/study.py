"""The whole study: learning rates tuned, trainings, networks served; finished parts are kept and not computed again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
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
from .inference import serve
from .known import kernels, outputs_of
from .statistics import bootstrap
from .tasks import TASKS, TEXT, load_task
from .training import train
from .units import FUNCTIONS, UNITS, targets

RATES = (1e-2, 3e-3, 1e-3, 3e-4)
TEXT_RATE = 1e-3  # not tuned
TUNING_RUNS = tuple(range(1000, 1005))  # other ones than those that are compared
RUNS = 20
PACKAGES = ("gelu-verify", "numpy", "scikit-learn")
_COMPUTE = ("arithmetic.py", "tasks.py", "units.py", "training.py", "inference.py")  # what decides results


@dataclass(frozen=True)
class StudyPlan:
    """What is trained: `runs` networks of each unit, dtype and task; the split of the data, all initial parameters and
    the order of the examples come from `seed`."""

    tasks: tuple[str, ...] = TASKS
    units: tuple[str, ...] = tuple(UNITS)
    dtypes: tuple[str, ...] = DTYPES
    runs: int = RUNS
    seed: int = 0

    @property
    def trained(self) -> tuple[str, ...]:
        """The tasks that networks are trained on many times."""
        return tuple(task for task in self.tasks if task != TEXT)


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
    """What was found, as frames: `tuning` (task, unit, rate, validation), `trainings` (task, unit, dtype, rate, run,
    loss, error), `curves` (task, unit, dtype, epoch, median, low, high), `networks` and `served` (the fields of
    `inference.Trained64` and `Served`)."""

    plan: StudyPlan
    origin: Mapping[str, Any]
    tuning: pd.DataFrame
    trainings: pd.DataFrame
    curves: pd.DataFrame
    networks: pd.DataFrame
    served: pd.DataFrame


@dataclass(frozen=True)
class TrainingJob:
    """All runs of a unit in a dtype on a task."""

    task: str
    unit: str
    dtype: str
    rate: float
    runs: tuple[int, ...]
    seed: int

    @property
    def label(self) -> str:
        return f"{self.task}: {self.unit} {self.dtype}"

    def __call__(self) -> dict[str, Any]:
        found = train(load_task(self.task, self.seed), UNITS[self.unit], self.dtype, self.rate, self.seed, self.runs)
        return {
            "losses": found.losses.tolist(),
            "validation": found.validation.tolist(),
            "errors": found.errors.tolist(),
        }


@dataclass(frozen=True)
class ServingJob:
    """A network that is trained once, served with all kernels."""

    task: str
    rate: float
    dtypes: tuple[str, ...]
    seed: int

    @property
    def label(self) -> str:
        return f"{self.task}: served with all kernels"

    def __call__(self) -> dict[str, Any]:
        network, rows = serve(load_task(self.task, self.seed), self.rate, self.seed, self.dtypes)
        return {"network": network, "rows": rows}


def run_study(plan: StudyPlan, folder: Path, executor: Callable[[], Pool], observer: Observer = SILENT) -> Study:
    """Carry out a plan. Finished parts are kept under `folder`/finished: what is interrupted goes on where it was.

    The same plan gives the same frames, bit for bit, on machines of one kind, whichever executor carries it out.
    `executor` is called once something is to be computed.
    """
    digests = {task: load_task(task, plan.seed).digest for task in plan.tasks}
    facts = {**identity(DATA), "code of gelu-verify": _code(), "kernels": " ".join(_kernels())}
    with finished_in(folder / "finished", facts, observer.warn) as journal:
        return _carried_out(plan, digests, Finished(journal, executor, outputs_of(kernels()), digests), observer)


def _carried_out(plan: StudyPlan, digests: Mapping[str, str], finished: Finished, observer: Observer) -> Study:
    tuned = [
        TrainingJob(task, unit, "float64", rate, TUNING_RUNS, plan.seed)
        for task in plan.trained
        for unit in dict.fromkeys(UNITS[name].tuned for name in plan.units)
        for rate in RATES
    ]
    tuning = _tuning(tuned, finished.all_of(tuned, observer))
    rates = _best(tuning)
    jobs: list[StudyJob] = [
        ServingJob(task, rates[task, "gelu"], plan.dtypes, plan.seed) for task in reversed(plan.tasks)
    ]
    trainings = [
        TrainingJob(task, name, dtype, rates[task, UNITS[name].tuned], tuple(range(plan.runs)), plan.seed)
        for task in plan.trained
        for name in plan.units
        for dtype in plan.dtypes
        if dtype in UNITS[name].dtypes
    ]
    found = finished.all_of([*jobs, *trainings], observer)
    served, trained = found[: len(jobs)], found[len(jobs) :]
    return Study(
        plan=plan,
        origin=_origin(digests),
        tuning=tuning,
        trainings=_final(trainings, trained),
        curves=_curves(trainings, trained),
        networks=pd.DataFrame([each["network"] for each in served]),
        served=pd.DataFrame([row for each in served for row in each["rows"]]),
    )


def _code() -> str:
    sources = b"".join((Path(__file__).parent / name).read_bytes() for name in _COMPUTE)
    return hashlib.sha256(sources).hexdigest()


def _kernels() -> list[str]:
    return sorted({each.version for each in targets().values()})


def _origin(digests: Mapping[str, str]) -> dict[str, Any]:
    return {"versions": machine.versions(PACKAGES), "machine": machine.machine(), "data": dict(digests)}


def _tuning(jobs: Sequence[TrainingJob], found: Sequence[Result]) -> pd.DataFrame:
    rows = [
        (job.task, job.unit, job.rate, float(np.median(each["validation"])))
        for job, each in zip(jobs, found, strict=True)
    ]
    return pd.DataFrame(rows, columns=["task", "unit", "rate", "validation"])


def _best(tuning: pd.DataFrame) -> dict[tuple[str, str], float]:
    """The rate of each task and unit with the smallest median loss on the validation part."""
    places = tuning.fillna(np.inf).groupby(["task", "unit"], sort=False)["validation"].idxmin()
    return {(TEXT, "gelu"): TEXT_RATE} | {key: float(tuning["rate"][place]) for key, place in places.items()}


def _final(jobs: Sequence[TrainingJob], found: Sequence[Result]) -> pd.DataFrame:
    rows = []
    for job, each in zip(jobs, found, strict=True):
        losses = each["losses"][-1]
        for run, loss, error in zip(job.runs, losses, each["errors"], strict=True):
            rows.append((job.task, job.unit, job.dtype, job.rate, run, loss, error))
    return pd.DataFrame(rows, columns=["task", "unit", "dtype", "rate", "run", "loss", "error"])


def _curves(jobs: Sequence[TrainingJob], found: Sequence[Result]) -> pd.DataFrame:
    """Of functions only; kernels are compared at the end."""
    rows = []
    for job, each in zip(jobs, found, strict=True):
        if UNITS[job.unit] not in FUNCTIONS:
            continue
        losses = np.array(each["losses"])
        for epoch, of_runs in enumerate(np.where(np.isfinite(losses), losses, np.inf), 1):
            rows.append((job.task, job.unit, job.dtype, epoch, *map(np.float32, bootstrap(of_runs))))
    return pd.DataFrame(rows, columns=["task", "unit", "dtype", "epoch", "median", "low", "high"])
