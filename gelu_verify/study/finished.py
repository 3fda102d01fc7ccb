"""Jobs that are computed in processes, and whose results are kept as files: an interrupted study goes on where it
was."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar, Protocol

from ..atomic_files import replace_file
from ..errors import MissingMeasurement, ResultsError
from ..measure.observer import Observer

_BLAS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Result = dict[str, Any]


class Job(Protocol):
    """A frozen dataclass; called, it gives what JSON can hold (NaN and infinities too)."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def label(self) -> str: ...

    def __call__(self) -> Result: ...


class Finished:
    """Results of jobs in a folder; the name of a file is a hash of the job and of `decides`, all that decides its
    result."""

    def __init__(self, folder: Path, decides: Mapping[str, Any]) -> None:
        self._folder, self._decides = folder, decides
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror or error}") from error

    def all_of(self, jobs: Sequence[Job], workers: int, observer: Observer) -> list[Result]:
        """The results of jobs, in their order; those that are not there are computed, by so many processes, and
        kept."""
        paths = [self._path(job) for job in jobs]
        found = {place: result for place, path in enumerate(paths) if (result := _read(path)) is not None}
        waiting = {place: job for place, job in enumerate(jobs) if place not in found}
        with observer.phase(len(jobs)):
            observer.advance(len(found))
            for place, result in _computed(waiting, workers):
                replace_file(paths[place], json.dumps(result).encode())
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
    if not jobs:
        return
    pool = ProcessPoolExecutor(min(workers, len(jobs)), get_context("spawn"), initializer=_leave_interrupts)
    try:
        with _one_thread_each():
            futures: dict[Future[Result], int] = {pool.submit(_call, job): place for place, job in jobs.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()
    except BrokenExecutor:
        raise MissingMeasurement(
            "a process of the study ended before its result was there (killed, or out of memory?): what is finished is "
            "kept, and the same command goes on"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _call(job: Job) -> Result:
    return job()


def _leave_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that started these answers it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
