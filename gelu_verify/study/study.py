"""The whole study: learning rates tuned, trainings, networks served; finished parts are kept and not computed again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import machine
from ..atomic_files import replace_file
from ..errors import ResultsError, UsageError, one_of
from ..formats import DTYPES
from ..measure.observer import SILENT, Observer
from .inference import serve
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
_BLAS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Plan:
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
) -> Plan:
    """The plan of what was asked for (None: all), in the order of the lists, with all that it is compared with."""
    asked = _some("unit", units, tuple(UNITS))
    with_baselines = {"gelu", *asked, *(UNITS[name].baseline for name in asked)}
    return Plan(
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

    plan: Plan
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
        arrays = {"losses": found.losses, "validation": found.validation, "errors": found.errors}
        return {name: array.astype("<f8").tobytes().hex() for name, array in arrays.items()}


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
        return {"network": _hexed(network), "rows": [_hexed(row) for row in rows]}


Job = TrainingJob | ServingJob
Result = dict[str, Any]


def run_study(plan: Plan, folder: Path, workers: int = 1, observer: Observer = SILENT) -> Study:
    """Carry out a plan. Finished parts are files under `folder`/finished: what is interrupted goes on where it was.

    The same plan gives the same frames, bit for bit, on one machine, whatever the number of workers.
    """
    digests = {task: load_task(task, plan.seed).digest for task in plan.tasks}
    finished = _Finished(folder / "finished", digests)
    tuned = [
        TrainingJob(task, unit, "float64", rate, TUNING_RUNS, plan.seed)
        for task in plan.trained
        for unit in dict.fromkeys(UNITS[name].tuned for name in plan.units)
        for rate in RATES
    ]
    tuning = _tuning(tuned, finished.all_of(tuned, workers, observer))
    rates = _best(tuning)
    jobs: list[Job] = [ServingJob(task, rates[task, "gelu"], plan.dtypes, plan.seed) for task in reversed(plan.tasks)]
    trainings = [
        TrainingJob(task, name, dtype, rates[task, UNITS[name].tuned], tuple(range(plan.runs)), plan.seed)
        for task in plan.trained
        for name in plan.units
        for dtype in plan.dtypes
        if dtype in UNITS[name].dtypes
    ]
    found = finished.all_of([*jobs, *trainings], workers, observer)
    served, trained = found[: len(jobs)], found[len(jobs) :]
    return Study(
        plan=plan,
        origin=_origin(digests),
        tuning=tuning,
        trainings=_final(trainings, trained),
        curves=_curves(trainings, trained),
        networks=pd.DataFrame([_unhexed(each["network"]) for each in served]),
        served=pd.DataFrame([_unhexed(row) for each in served for row in each["rows"]]),
    )


def _origin(digests: Mapping[str, str]) -> dict[str, Any]:
    return {"versions": machine.versions(PACKAGES), "machine": machine.machine(), "data": dict(digests)}


def _tuning(jobs: Sequence[TrainingJob], found: Sequence[Result]) -> pd.DataFrame:
    rows = [
        (job.task, job.unit, job.rate, float(np.median(_floats(each["validation"]))))
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
        losses = _floats(each["losses"]).reshape(-1, len(job.runs))[-1]
        for run, loss, error in zip(job.runs, losses, _floats(each["errors"]), strict=True):
            rows.append((job.task, job.unit, job.dtype, job.rate, run, loss, error))
    return pd.DataFrame(rows, columns=["task", "unit", "dtype", "rate", "run", "loss", "error"])


def _curves(jobs: Sequence[TrainingJob], found: Sequence[Result]) -> pd.DataFrame:
    """Of functions only; kernels are compared at the end."""
    rows = []
    for job, each in zip(jobs, found, strict=True):
        if UNITS[job.unit] not in FUNCTIONS:
            continue
        losses = _floats(each["losses"]).reshape(-1, len(job.runs))
        for epoch, of_runs in enumerate(np.where(np.isfinite(losses), losses, np.inf), 1):
            rows.append((job.task, job.unit, job.dtype, epoch, *map(np.float32, bootstrap(of_runs))))
    return pd.DataFrame(rows, columns=["task", "unit", "dtype", "epoch", "median", "low", "high"])


# ---- finished parts --------------------------------------------------------------------------------


class _Finished:
    """Results of jobs as files; a name is a hash of the job and of all that decides its result."""

    def __init__(self, folder: Path, digests: Mapping[str, str]) -> None:
        self._folder = folder
        sources = b"".join((Path(__file__).parent / name).read_bytes() for name in _COMPUTE)
        self._decides = {
            "code": hashlib.sha256(sources).hexdigest(),
            "kernels": sorted({each.version for each in targets().values()}),
            "versions": machine.versions(PACKAGES),
            "cpu": machine.machine().get("cpu"),
            "data": dict(digests),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror or error}") from error

    def all_of(self, jobs: Sequence[Job], workers: int, observer: Observer) -> list[Result]:
        """The results of jobs, in their order; those that are not there are computed and kept."""
        names = [self._path(job) for job in jobs]
        found = {place: result for place, path in enumerate(names) if (result := _read(path)) is not None}
        with observer.phase(len(jobs)):
            observer.advance(len(found))
            waiting = {place: job for place, job in enumerate(jobs) if place not in found}
            for place, result in _computed(waiting, workers):
                replace_file(names[place], json.dumps(result).encode())
                found[place] = result
                observer.start(jobs[place].label)
                observer.advance(1)
        return [found[place] for place in range(len(jobs))]

    def _path(self, job: Job) -> Path:
        asked = json.dumps([type(job).__name__, asdict(job), self._decides], sort_keys=True)
        return self._folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:24]}.json"


def _read(path: Path) -> Result | None:
    try:
        found: Result = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found


def _computed(jobs: Mapping[int, Job], workers: int) -> Iterator[tuple[int, Result]]:
    """Each result when it is there."""
    if workers < 1:
        raise UsageError(f"workers {workers} is too small (accepted: 1 or more)")
    if not jobs:
        return
    with _one_thread_each(), ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        futures: dict[Future[Result], int] = {pool.submit(_call, job): place for place, job in jobs.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _call(job: Callable[[], Result]) -> Result:
    return job()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start here have a BLAS of one thread: the order of its sums, too, is then that of one thread."""
    before = {name: os.environ.get(name) for name in _BLAS}
    os.environ.update(dict.fromkeys(_BLAS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _floats(text: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(text), "<f8")


def _hexed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.hex() if isinstance(value, float) else value for key, value in row.items()}


_TEXTS = ("task", "target", "function", "dtype")


def _unhexed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: float.fromhex(value) if isinstance(value, str) and key not in _TEXTS else value
        for key, value in row.items()
    }
