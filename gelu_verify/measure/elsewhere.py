"""Work in other processes: each finds target and plan by itself, and proves that they are those of the client.

What crosses is the request, narrowed to one target, and an item; what comes back are bytes. A worker with another
version, build or code than the client's is refused, and so is one whose processor makes the target give other outputs:
two kernels are not mixed in one result.
"""

from __future__ import annotations

import atexit
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from ..errors import GeluVerifyError
from ..speed.throughput import one_thread_each
from ..work.executors import Misfit, Pool
from ..work.journal import Facts, differing
from .identity import MANY, PROCESSOR, ProbeOutputs, another, identity, implementation, worker_facts
from .jobs import Job, narrowed_to, one_job, selecting
from .part_measurer import PartMeasurer, Range
from .parts import packed
from .request import Request

KEPT = 8  # jobs that a worker keeps loaded: those of a run come in turn
Item = TypeVar("Item")
Loaded = TypeVar("Loaded")


@dataclass(frozen=True)
class Elsewhere(Generic[Item]):
    """An executor, and what it does with an item: bytes; `spend` is told what that cost."""

    pool: Pool
    measured: Callable[[Item], bytes]
    spend: Callable[[float], object] = lambda core_seconds: None

    @classmethod
    def of(
        cls,
        pool: Pool,
        job: Job,
        request: Request,
        work: type[RemoteWork[Item, Any]],
        spend: Callable[[float], object] = lambda core_seconds: None,
    ) -> Self | None:
        """Work on one job of a request; None where its target fails here, which says all."""
        outputs = ProbeOutputs.of(job.target, job.plan, MANY)
        return None if outputs.failure else cls(pool, work.of(job, request, outputs).measured, spend)

    def saw(self, seconds: float, worker: Mapping[str, str] | None) -> None:
        """What an item cost, and which machine."""
        self.spend(seconds)
        if worker:
            self.pool.spend(worker, seconds)


@dataclass(frozen=True)
class RemoteWork(ABC, Generic[Item, Loaded]):
    """A job as another process can find it, and what must be the same there; a subclass says what is done with it."""

    request: Request
    facts: Facts
    inputs_sha256: str
    outputs: bytes
    item_seconds: float

    @classmethod
    def of(cls, job: Job, request: Request, outputs: ProbeOutputs) -> Self:
        plan = job.plan
        narrowed = narrowed_to(request, job.target, plan.function, plan.dtype)
        narrowed = replace(narrowed, plan_of={job.key: (plan.name, plan.seed)})  # there nothing follows from the rest
        facts = {**implementation(job.target), **identity([job.target.family])}
        return cls(narrowed, facts, plan.inputs_sha256, outputs.packed(), request.executor.item_seconds)

    @abstractmethod
    def measured(self, item: Item) -> bytes:
        """What comes of an item, by `loaded`, which raises Misfit where this process is not as the client's."""

    @abstractmethod
    def loading(self, job: Job) -> Loaded:
        """What does items of that job, and is kept."""

    @property
    def key(self) -> str:
        """What one worker keeps it under."""
        return repr((type(self), self.request, self.facts, self.inputs_sha256, self.outputs))

    def loaded(self) -> Loaded:
        """The same for all items in this process; raises Misfit."""
        found: Loaded = _loaded(self)
        return found

    def load(self, closing: ExitStack) -> Loaded:
        """The target and the plan, found here; raises Misfit where they are not the client's."""
        one_thread_each()
        job = one_job(self.request, closing.enter_context(selecting(self.request)))
        there = {**implementation(job.target), **identity([job.target.family])}  # as the client sees it, who is told
        reason = differing(there, self.facts, apart_from=PROCESSOR)
        if job.plan.inputs_sha256 != self.inputs_sha256:
            reason = f"the inputs of plan {job.plan.name} are others"
        if reason:
            raise Misfit(reason)
        outputs = ProbeOutputs.unpacked(self.outputs)
        if reason := another(job.target.name, outputs.again(job.target), outputs):
            raise Misfit(f"{reason} ({_processors(there, self.facts)})")
        return self.loading(job)


@dataclass(frozen=True)
class RemoteSweep(RemoteWork[Range, PartMeasurer]):
    """Ranges of chunks, as parts."""

    def measured(self, item: Range) -> bytes:
        return packed(replace(self.loaded().measured(item), worker=worker_facts()))

    def loading(self, job: Job) -> PartMeasurer:
        return PartMeasurer(job.target, job.plan, seconds=self.item_seconds)


def _processors(there: Facts, here: Facts) -> str:
    return "; ".join(f"{name}: {there[name]} there and {here[name]} here" for name in PROCESSOR)


# ---- in a worker ---------------------------------------------------------------------------------

_lock = threading.Lock()
_works: dict[str, tuple[ExitStack, Any]] = {}  # the latest used last


def _loaded(remote: RemoteWork[Any, Any]) -> Any:
    """What was loaded for a job, once; raises Misfit."""
    key = remote.key
    with _lock:
        if key not in _works:
            while len(_works) >= KEPT:
                _works.pop(next(iter(_works)))[0].close()
            closing = ExitStack()
            try:
                _works[key] = closing, remote.load(closing)
            except BaseException as error:
                closing.close()
                if isinstance(error, GeluVerifyError) and not isinstance(error, Misfit):
                    raise Misfit(str(error)) from None  # a library is not there, or the target fails there
                raise
        _works[key] = _works.pop(key)
        return _works[key][1]


@atexit.register
def _close() -> None:
    """End what the targets run in."""
    for closing, _ in _works.values():
        closing.close()
