"""Work in other processes: each finds target and plan by itself, and proves that they are those of the client.

What crosses is the request, narrowed to one target, and a range of chunks; what comes back are the bytes of a part. A
worker with another version, build or code than the client's is refused, and so is one whose processor makes the target
give other outputs: two kernels are not mixed in one result.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ..errors import GeluVerifyError, TargetFailure
from ..speed.throughput import one_thread_each
from .executors import ON_THREADS, Misfit, Pool
from .identity import PROCESSOR, identity, probe, worker_facts
from .jobs import Job, one_job, selecting
from .journal import Facts, differing
from .parts import Part, packed
from .request import Request
from .work import Range, Work

KEPT = 8  # jobs that a worker keeps loaded: those of a run come in turn


@dataclass(frozen=True)
class Elsewhere:
    """An executor, and what it does for a range of chunks: the bytes of a part."""

    pool: Pool
    measured: Callable[[Range], bytes]
    spend: Callable[[float], object] = lambda core_seconds: None

    @classmethod
    def of(
        cls, pool: Pool, job: Job, request: Request, spend: Callable[[float], object] = lambda core_seconds: None
    ) -> Elsewhere | None:
        """Of one job of a request; None where it fails here, which says all. `spend` is told what parts cost."""
        try:
            digest = probe(job.target, job.plan.function, job.plan.dtype)
        except TargetFailure:
            return None
        return cls(pool, RemoteWork.of(job, request, digest).measured, spend)

    def saw(self, part: Part) -> None:
        """What a part cost, and which machine."""
        self.spend(part.seconds)
        if part.worker:
            self.pool.spend(part.worker, part.seconds)


@dataclass(frozen=True)
class RemoteWork:
    """A job as another process can find it, and what must be the same there."""

    request: Request
    facts: Facts
    version: str
    inputs_sha256: str
    probe: str
    item_seconds: float

    @classmethod
    def of(cls, job: Job, request: Request, digest: str) -> RemoteWork:
        narrowed = replace(
            request, targets=(job.target.name,), functions=(job.plan.function,), dtypes=(job.plan.dtype,),
            isa=(), own=False, throughput="none", workers=None, executor=ON_THREADS,
        )  # fmt: skip
        facts = identity([job.target.family])
        return cls(narrowed, facts, job.target.version, job.plan.inputs_sha256, digest, request.executor.item_seconds)

    def measured(self, chunks: Range) -> bytes:
        """The bytes of a part; raises Misfit where this process is not as the client's."""
        work = _loaded(self)
        return packed(replace(work.measured(chunks), worker=worker_facts()))

    @property
    def key(self) -> str:
        """What one worker keeps it under."""
        return repr((self.request, self.version, self.inputs_sha256, self.probe))

    def load(self, closing: ExitStack) -> Work:
        """The target and the plan, found here; raises Misfit where they are not the client's."""
        one_thread_each()
        job = one_job(self.request, closing.enter_context(selecting(self.request)))
        here = identity([job.target.family])
        reason = differing(self.facts, here, apart_from=PROCESSOR)
        if job.target.version != self.version:
            reason = f"the version of {job.target.name} is {self.version} there and {job.target.version} here"
        if job.plan.inputs_sha256 != self.inputs_sha256:
            reason = f"the inputs of plan {job.plan.name} are others"
        if reason:
            raise Misfit(reason)
        if self.probe and probe(job.target, job.plan.function, job.plan.dtype) != self.probe:
            raise Misfit(f"{job.target.name} gives other outputs ({_processors(self.facts, here)})")
        return Work(job.target, job.plan, seconds=self.item_seconds)


def _processors(there: Facts, here: Facts) -> str:
    return "; ".join(f"{name}: {there[name]} there and {here[name]} here" for name in PROCESSOR)


# ---- in a worker ---------------------------------------------------------------------------------

_lock = threading.Lock()
_works: dict[str, tuple[ExitStack, Work]] = {}  # the latest used last


def _loaded(remote: RemoteWork) -> Work:
    """The work of a job, loaded once; raises Misfit."""
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
