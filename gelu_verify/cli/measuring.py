"""What `run` and `gate` share: time and sweep every job, with a progress bar.

Jobs are swept side by side, one per worker. Implementations are called one at a time, but for those that say
that they are safe in threads: a user's function need not be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from threading import Event, Lock
from typing import Any

import numpy as np

from ..checks import Policy
from ..errors import TargetFailure
from ..inputs.plans import Plan
from ..interrupts import interrupted
from ..isolation.target import IsolatedTarget
from ..measure.sweep import Result, available_cores, sweep
from ..measure.verification import Job
from ..speed.cache_levels import measure_and_watch as measure_and_watch_sizes
from ..speed.throughput import BUDGET, measure_and_watch, outputs_from_json
from ..targets import Target
from ..targets.extra_outputs import ExtraOutputs, collecting
from ..targets.probing import ordinary_numbers
from .program import warn
from .progress import progress

TIMING = 10.0  # seconds of timed calls in one run, shared by its jobs


class _Stopped(Exception):
    """The run was interrupted: leave the sweep at the next chunk."""


@dataclass(frozen=True, kw_only=True)
class _OneAtATime(Target):
    """A target that waits for its turn, unless it is safe in threads."""

    inner: Target
    turn: Lock

    @classmethod
    def of(cls, inner: Target, turn: Lock) -> _OneAtATime:
        told = {field.name: getattr(inner, field.name) for field in fields(Target)}
        return cls(inner=inner, turn=turn, **told)

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        return self.inner.load(dtype, x_bits)

    def call(self, loaded: Any) -> Any:
        return self.inner.call(loaded)

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        return self.inner.store(dtype, loaded, result)

    def applied(self, calls: int | None, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        with self.turn:
            return self.inner.applied(calls, function, *arguments, **options)

    def noted(self, dtype: str) -> TargetFailure | None:
        return self.inner.noted(dtype)

    def timed(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        if self.safe_in_threads:
            return self.inner.timed(dtype, x_bits)
        with self.turn:
            return self.inner.timed(dtype, x_bits)


def measured(
    jobs: Sequence[Job],
    plans: Sequence[Plan],
    *,
    policy: Policy = "limit",
    workers: int | None = None,
    timed: bool = False,
    sizes: bool = False,
) -> Iterator[Result]:
    """The result of each job on its plan, in order; a target that fails is said on stderr, and the next one goes on.

    `timed`: with its throughput; `sizes`: also from the first cache to memory, on one thread and on all.
    """
    workers = workers or available_cores()
    times: list[dict[str, Any] | TargetFailure | None] = [None] * len(jobs)
    others = [ExtraOutputs() for _ in jobs]
    if timed:
        with progress(len(jobs)) as bar:
            for index, job in enumerate(jobs):
                bar.start(f"timing {job.label}")
                times[index] = _timing(job, min(BUDGET, TIMING / len(jobs)), sizes, others[index])
                bar.advance(1)
    turn, stop = Lock(), Event()
    with progress(sum(plan.work for plan in plans)) as bar:

        def advance(inputs: int) -> None:
            if stop.is_set() or interrupted.is_set():
                raise _Stopped
            bar.advance(inputs)

        def work(index: int) -> Result:
            job, plan = jobs[index], plans[index]
            bar.start(job.label)
            alone = workers if len(jobs) < workers else 1
            # a child has turns of its own: different ones may be called side by side
            target = job.target if isinstance(job.target, IsolatedTarget) else _OneAtATime.of(job.target, turn)
            return sweep(target, plan, workers=alone, progress=advance, policy=policy, others=others[index])

        for job, plan, timing, result in zip(
            jobs, plans, times, _in_order(len(jobs), workers, work, stop), strict=True
        ):
            if plan.exhaustive and plan.dtype == "float32" and result.time is not None:
                result.record["time"] = {**asdict(result.time), "ratio": result.time.ratio}
            if result.failure is not None:
                warn(f"failed: {job.label}: {result.failure}")
            elif isinstance(timing, TargetFailure):
                warn(f"not timed: {job.label}: {timing}")
            else:
                result.record["throughput"] = timing
            yield result


def _timing(job: Job, budget: float, sizes: bool, others: ExtraOutputs) -> dict[str, Any] | TargetFailure:
    """Throughput of a job, or why there is none; what fails here most often fails in the sweep, which says so.

    The answers that were timed are added to `others`, to be judged.
    """
    try:
        x = ordinary_numbers(job.dtype)
        with collecting() as found:
            got = job.target.evaluate(job.dtype, x)  # what hangs shall hang within its limit
        others.differences.extend(found)
        others.add_call(x, got, f"at index {{}} in a call of {len(x)}")
        told = job.target.apply(measure_and_watch, job.dtype, budget=budget)
        outputs_from_json(job.dtype, told["outputs"], others)
        if not sizes:
            return told["throughput"]
        also = job.target.apply(measure_and_watch_sizes, job.dtype)
        outputs_from_json(job.dtype, also["outputs"], others)
        return {**told["throughput"], "sizes": also["sizes"]}
    except TargetFailure as failure:
        return failure


def _in_order(count: int, workers: int, work: Callable[[int], Result], stop: Event) -> Iterator[Result]:
    """`work` of 0, 1, 2 ..., some ahead on threads; what is left stops when the caller does."""
    pool, waiting = ThreadPoolExecutor(workers), deque[Future[Result]]()
    try:
        for index in range(count):
            waiting.append(pool.submit(work, index))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
