"""Jobs that go through an executor, and whose results are kept in a journal: an interrupted study continues."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from ..errors import ResultsError
from ..measure.identity import identity
from ..work.executors import Misfit, Pool, results
from ..work.journal import Facts, Journal, differing
from ..work.journals import open_journal
from ..work.observer import Observer
from .known import begin, changed, same_outputs

DATA = ("scikit-learn",)  # what the data come from; all else is in this package
Result = dict[str, Any]


class StudyJob(Protocol):
    """A frozen dataclass; called, it gives what JSON can hold (NaN and infinities too), by names."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def task(self) -> str: ...

    @property
    def label(self) -> str: ...

    def __call__(self) -> Result: ...


@dataclass(frozen=True)
class _Item:
    """A job, and the key of its result."""

    key: str
    job: StudyJob

    def __str__(self) -> str:
        return self.job.label


@dataclass(frozen=True)
class _Called:
    """Carries out items in another process, where it must be as here: version, code, builds and processor; gives what
    came of each, and the seconds of the processor."""

    facts: Facts

    def __call__(self, item: _Item) -> Result:
        if reason := differing({**identity(DATA), **same_outputs(self.facts)}, self.facts):
            raise Misfit(reason)
        use_one_thread()
        began = time.thread_time()
        return {"result": item.job(), "seconds": round(time.thread_time() - began, 2)}


def use_one_thread() -> None:
    """Have the BLAS of this process use one thread from now on: the order of its sums is then always the same."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, "blas")


@contextmanager
def finished_in(folder: Path, facts: Facts, warn: Callable[[str], object]) -> Iterator[Journal]:
    """What is finished in a folder, with those facts and with kernels whose outputs are those that are here."""
    with ExitStack() as closing:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            journal = open_journal(folder, b"study", facts, changed, closing, warn, "what is finished")
        except OSError as error:
            raise ResultsError(f"cannot write {error.filename}: {error.strerror}") from None
        for problem in journal.damaged:
            warn(f"{journal.path} is damaged: {problem} is computed again")
        begin(journal)
        yield journal


class Finished:
    """Results of jobs in a journal, under the job and the digest of its data."""

    def __init__(
        self, journal: Journal, executor: Callable[[], Pool], outputs: Facts, digests: Mapping[str, str]
    ) -> None:
        self._journal, self._executor, self._outputs, self._digests = journal, executor, outputs, digests
        self._seconds: list[float] = []

    @property
    def cost(self) -> dict[str, float]:
        """How many jobs were asked for, and the seconds of a processor that they took, whenever that was."""
        return {"jobs": len(self._seconds), "processor_seconds": round(sum(self._seconds))}

    def all_of(self, jobs: Sequence[StudyJob], observer: Observer) -> list[Result]:
        """The results of jobs, in their order; those that are not there are computed and kept."""
        items = [_Item(self._key(job), job) for job in jobs]
        found = {item.key: json.loads(content) for item in items for _, content in self._journal.records(item.key)}
        waiting = deque(item for item in items if item.key not in found)
        with observer.phase(len(jobs)):
            observer.advance(len(found))
            for item, result in self._computed(waiting):
                self._journal.append(item.key, 0, json.dumps(result).encode())
                found[item.key] = result
                observer.start(item.job.label)
                observer.advance(1)
        self._seconds += [found[item.key]["seconds"] for item in items]
        return [found[item.key]["result"] for item in items]

    def _computed(self, waiting: deque[_Item]) -> Iterator[tuple[_Item, Result]]:
        """Each result when it is there."""
        if waiting:
            yield from results(self._executor(), _Called({**identity(DATA), **self._outputs}), waiting)

    def _key(self, job: StudyJob) -> str:
        asked = json.dumps([type(job).__name__, asdict(job), self._digests[job.task]], sort_keys=True)
        return f"{job.label} {hashlib.sha256(asked.encode()).hexdigest()[:24]}"
