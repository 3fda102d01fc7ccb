"""Jobs that go through an executor, and whose results are kept as files: an interrupted study goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from ..atomic_files import claimed, remove_partial, replace_file
from ..errors import ResultsError
from ..measure.identity import identity
from ..work.executors import Misfit, Pool, results
from ..work.journal import Facts, differing
from ..work.observer import Observer
from .known import same_outputs

DATA = ("scikit-learn",)  # what the data come from; all else is in this package
Result = dict[str, Any]


class StudyJob(Protocol):
    """A frozen dataclass; called, it gives what JSON can hold (NaN and infinities too)."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def label(self) -> str: ...

    def __call__(self) -> Result: ...


@dataclass(frozen=True)
class _Item:
    """A job, and its place among all."""

    place: int
    job: StudyJob

    def __str__(self) -> str:
        return self.job.label


@dataclass(frozen=True)
class _Called:
    """Carries out items in another process, where it must be as here: version, code, builds and processor."""

    facts: Facts

    def __call__(self, item: _Item) -> Result:
        if reason := differing(self.facts, {**identity(DATA), **same_outputs(self.facts)}):
            raise Misfit(reason)
        use_one_thread()
        return item.job()


def use_one_thread() -> None:
    """Have the BLAS of this process use one thread from now on: the order of its sums is then always the same."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, "blas")


class Finished:
    """Results of jobs in a folder; the name of a file is a hash of the job, and of all that decides its result:
    `decides`, and the outputs of all kernels."""

    def __init__(self, folder: Path, decides: Mapping[str, Any], executor: Callable[[], Pool], outputs: Facts) -> None:
        self._folder, self._executor, self._outputs = folder, executor, outputs
        self._decides = {**decides, "outputs": dict(outputs)}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with claimed(folder) as is_ours:
                if is_ours:
                    remove_partial(folder)
        except OSError as error:
            raise ResultsError(f"cannot write to {folder}: {error.strerror or error}") from error

    def all_of(self, jobs: Sequence[StudyJob], observer: Observer) -> list[Result]:
        """The results of jobs, in their order; those that are not there are computed and kept."""
        paths = [self._path(job) for job in jobs]
        found = {place: result for place, path in enumerate(paths) if (result := _read(path)) is not None}
        waiting = deque(_Item(place, job) for place, job in enumerate(jobs) if place not in found)
        with observer.phase(len(jobs)):
            observer.advance(len(found))
            for item, result in self._computed(waiting):
                _keep(paths[item.place], result)
                found[item.place] = result
                observer.start(item.job.label)
                observer.advance(1)
        return [found[place] for place in range(len(jobs))]

    def _computed(self, waiting: deque[_Item]) -> Iterator[tuple[_Item, Result]]:
        """Each result when it is there."""
        if waiting:
            yield from results(self._executor(), _Called({**identity(DATA), **self._outputs}), waiting)

    def _path(self, job: StudyJob) -> Path:
        asked = json.dumps([type(job).__name__, asdict(job), self._decides], sort_keys=True)
        return self._folder / f"{hashlib.sha256(asked.encode()).hexdigest()[:24]}.json"


def _read(path: Path) -> Result | None:
    try:
        found: Result = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found


def _keep(path: Path, result: Result) -> None:
    try:
        replace_file(path, json.dumps(result).encode(), flush=True)
    except OSError as error:
        raise ResultsError(f"cannot write {error.filename}: {error.strerror}; the same command continues") from None
