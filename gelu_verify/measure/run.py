"""The one path from jobs to results, which `run`, `verify`, `gate` and an upload take.

First the jobs are timed, one after the other, where that is asked for. Then they are swept side by side, one per
worker; implementations are called one at a time, but for those that say that they are safe in threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock

from ..errors import ResultsError, TargetFailure
from ..interrupts import interrupted
from ..isolation.target import IsolatedTarget
from ..machine import cores
from ..own_faults import guarded
from ..records.parts import SweepTime, Throughput
from ..records.result import Record, Result
from ..records.schema import check_measured
from ..records.serialize import from_json
from ..speed.cache_levels import measure_sizes
from ..speed.throughput import BUDGET, measure, outputs_from_json
from ..targets import Target
from ..targets.callable_target import CallableTarget
from ..targets.detection import works_here_alone
from ..targets.extra_outputs import ExtraOutputs, collecting
from ..targets.probing import ordinary_numbers
from ..targets.wrapped import TakingTurns
from ..work.executors import Pool
from ..work.journal import Journal
from ..work.observer import SILENT, Observer
from . import budget
from .budget import NOTHING, Budget
from .elsewhere import Elsewhere, RemoteSweep
from .jobs import OWN, Job, is_brief, is_timed, one_job, selecting
from .kept import Kept
from .pairs import FirstPaths
from .part_measurer import Range
from .recording import unmeasured
from .repeating import repeated_call
from .request import Request
from .second_input import swept_pairs
from .sweep import is_judged_on_device, sweep, unmeasured_by_us

TIMING = 10.0  # seconds of timed calls in one run, shared by its jobs


class _Stopped(BaseException):
    """Nobody waits for the results any more: leave the sweep at the next chunk."""


def measure_one(request: Request, observer: Observer = SILENT) -> Result:
    """The result of a request for one target in one function and dtype."""
    with selecting(request, observer) as select:
        (result,) = measured([one_job(request, select)], request, observer)
    return result


def measured(
    jobs: Sequence[Job],
    request: Request,
    observer: Observer = SILENT,
    *,
    pool: Pool | None = None,
    journal: Journal | None = None,
    alone: bool = False,
) -> Iterator[Result]:
    """The result of each job, in order, as soon as it is there; a target that fails is a result like any other.

    `pool`: an executor whose workers find the targets by themselves; `journal`: what was measured before, and where
    to keep what is measured now; `alone`: one target that is named gets more time for inputs.
    """
    run = _Run(jobs, request, observer, pool, journal, alone)
    if request.measures_throughput:
        run.time()
    firsts = FirstPaths()
    with observer.phase(sum(job.plan.work for job in jobs)):
        for job, timing, result in zip(jobs, run.times, run.swept(), strict=True):
            if result.record.has_failed:
                observer.warn(f"failed: {job.label}: {result.failure}")
            elif isinstance(timing, TargetFailure):
                observer.warn(f"not timed: {job.label}: {timing}")
            yield _finished(result, job, request, firsts, run.faults[job.key], observer)


def _finished(
    result: Result, job: Job, request: Request, firsts: FirstPaths, faults: Sequence[str], observer: Observer
) -> Result:
    """With what follows from the run; where it is none that could be stored, that is a fault of ours."""
    found = [*faults, *(result.record.own_faults or ())]
    with guarded("comparison with other paths", found):
        pair = None if result.record.second else firsts.pair(result)
        result = result.updated(pair=pair, repeat=_repeat(job, result.record, request))
    result = result.updated(own_faults=tuple(found) or None)
    with guarded("result", found):
        _check(result)
    if result.record.own_faults != (tuple(found) or None):
        result = unmeasured_by_us(
            unmeasured(job.target, job.plan, "exhaustive" if job.plan.exhaustive else "sampled"), found
        )
    for fault in found:
        observer.warn(f"{job.label}: {fault}")
    return result


def _check(result: Result) -> None:
    """AssertionError where it contradicts itself."""
    try:
        check_measured(result.record, result.table is not None)
    except ResultsError as error:
        raise AssertionError(str(error)) from error


def allotted(jobs: Sequence[Job], request: Request, workers: int, alone: bool) -> list[Budget]:
    """What more inputs may cost each job, where the request does not say: of several targets each EACH_S, and all
    together ALL_S, unless that were less than LEAST_S each; of one that is named, where that is `alone`, ALONE_S.
    Where nothing is named, UNNAMED of that.

    Our own kernels get nothing beside other targets: committed runs of all inputs prove them. Where a grade is asked
    for that speaks of all inputs, nothing limits float32.
    """
    given = None if request.budget is None else replace(Budget.of(request.budget), demand=request.demand)
    named = {name.partition(".")[0] if isinstance(name, str) else OWN for name in request.targets}
    takes = [job.plan.widens and (job.target.family != OWN or OWN in named) for job in jobs]
    names = {job.target.name for job, each in zip(jobs, takes, strict=True) if each}
    share = min(budget.EACH_S, max(budget.LEAST_S, budget.ALL_S * workers / max(sum(takes), 1)))
    seconds = budget.ALONE_S if alone and len(names) == 1 else share
    seconds *= 1 if request.targets else budget.UNNAMED

    def of(job: Job, takes_more: bool) -> Budget:
        if takes_more and given is None and request.demands_all and job.plan.dtype == "float32":
            return Budget(demand=request.demand)
        if job.key in request.buckets_of:
            return Budget(buckets=request.buckets_of[job.key])
        if not takes_more:
            return NOTHING
        if given is not None:
            return given
        if request.demands_all:
            return Budget(max(seconds, budget.ALONE_S), demand=request.demand)
        return Budget(seconds)

    return [
        replace(found, all_s=request.all_s) if job.plan.widens and job.plan.dtype == "float32" else found
        for job, found in ((job, of(job, each)) for job, each in zip(jobs, takes, strict=True))
    ]


def _repeat(job: Job, record: Record, request: Request) -> str:
    given = request.targets[0] if request.targets else ""
    if isinstance(job.target, CallableTarget) and not isinstance(given, str | Target):
        return repeated_call(request, job.target, record)
    return request.repeated(record.repeat, job.target.family == "callable")


def _time(job: Job, result: Result) -> SweepTime | None:
    """What a sweep of 2^32 inputs took; that of fewer says nothing."""
    if result.time is None or result.record.bound != "=" or job.plan.dtype != "float32":
        return None
    return result.time.recorded()


# ---- throughput ------------------------------------------------------------------------------------


def _timing(job: Job, budget: float, sizes: bool, others: ExtraOutputs) -> Throughput | TargetFailure:
    """Throughput of a job, or why there is none; what fails here most often fails in the sweep, which says so.

    The outputs of the timed calls are added to `others`, to be judged.
    """
    target, dtype = job.target, job.plan.dtype
    try:
        x = ordinary_numbers(dtype)
        with collecting() as found:
            got = target.evaluate(dtype, x)  # what hangs shall hang within its limit
        others.differences.extend(found)
        others.add_call(x, got, f"at index {{}} in a call of {len(x)}")
        quick = target.apply(measure, dtype, budget=budget)
        outputs_from_json(dtype, quick["outputs"], others)
        if not sizes:
            return from_json(Throughput, quick["throughput"])
        full = target.apply(measure_sizes, dtype)
        outputs_from_json(dtype, full["outputs"], others)
        return from_json(Throughput, {**quick["throughput"], "sizes": full["sizes"]})
    except TargetFailure as failure:
        return failure


# ---- sweeps ----------------------------------------------------------------------------------------


def _kept(journal: Journal | None, job: Job, request: Request) -> Kept | None:
    """None also for a kernel that nobody asked for, which is measured as fast as it would be kept."""
    if journal is None or (is_brief(job.target, request) and job.key not in journal.keys):
        return None
    return Kept(journal, job.key)


def _is_bound(jobs: Sequence[Job], request: Request) -> bool:
    """Whether one target of this process works on the thread of the caller alone."""
    if len(jobs) != 1 or request.workers == 1 or isinstance(jobs[0].target, IsolatedTarget):
        return False
    return works_here_alone(jobs[0].target)


class _Run:
    """The jobs of one request on their way to results."""

    def __init__(
        self, jobs: Sequence[Job], request: Request, observer: Observer, pool: Pool | None, journal: Journal | None,
        alone: bool,
    ) -> None:  # fmt: skip
        self._jobs, self._request, self._observer, self._pool = jobs, request, observer, pool
        self._kept = [_kept(journal, job, request) for job in jobs]
        self._others = [ExtraOutputs() for _ in jobs]
        self.times: list[Throughput | TargetFailure | None] = [None] * len(jobs)
        self.faults: dict[str, list[str]] = {job.key: [] for job in jobs}
        self._turn, self._stop = Lock(), Event()
        self._workers = 1 if _is_bound(jobs, request) else request.workers or cores()
        self._budgets = allotted(jobs, request, self._workers, alone)

    def time(self) -> None:
        """The throughput of each job that has no result yet, or why there is none."""
        jobs = [
            index
            for index, job in enumerate(self._jobs)
            if is_timed(job, self._request) and self._result(index) is None
        ]
        with self._observer.phase(len(jobs)):
            for index in jobs:
                self._observer.start(f"timing {self._jobs[index].label}")
                budget, sizes = min(BUDGET, TIMING / len(jobs)), self._request.throughput == "full"
                with guarded("timing", self.faults[self._jobs[index].key]):
                    self.times[index] = _timing(self._jobs[index], budget, sizes, self._others[index])
                self._observer.advance(1)

    def swept(self) -> Iterator[Result]:
        """The sweep of each job, in order."""
        if len(self._jobs) == 1 and not isinstance(self._jobs[0].target, IsolatedTarget):
            yield self._swept(0)  # in the caller's own thread, as code of this process and its debugger expect
        else:
            yield from _in_order(len(self._jobs), self._workers, self._swept, self._stop)

    def _swept(self, index: int) -> Result:
        job, kept, timing = self._jobs[index], self._kept[index], self.times[index]
        self._observer.start(job.label)
        if (before := self._result(index)) is not None:
            self._advance(job.plan.work)
            return before
        measure = swept_pairs if job.plan.second else sweep
        result = measure(
            self._target(job.target),
            job.plan,
            workers=self._workers if len(self._jobs) < self._workers else 1,
            progress=self._advance,
            policy=self._request.policy,
            others=self._others[index],
            kept=kept,
            elsewhere=self._elsewhere(job),
            budget=self._budgets[index],
            max_ulp=self._request.max_ulp,
            few_calls=is_brief(job.target, self._request),
        )
        foreign = result.record.executed is not None  # how fast it is there says nothing of its own device
        untimed = foreign or result.failure is not None or isinstance(timing, TargetFailure)
        result = result.updated(throughput=None if untimed else timing, time=_time(job, result))
        if kept:
            more = result.record.coverage is not None and result.record.coverage.buckets
            has_other_table = more or job.plan.second or is_judged_on_device(job.target, job.plan)
            kept.finish(result, result.table if has_other_table else None)
        return result

    def _elsewhere(self, job: Job) -> Elsewhere[Range] | None:
        return Elsewhere.of(self._pool, job, self._request, RemoteSweep, self._observer.spend) if self._pool else None

    def _result(self, index: int) -> Result | None:
        """What an earlier process found."""
        kept = self._kept[index]
        return kept.result(self._jobs[index].plan) if kept else None

    def _target(self, target: Target) -> Target:
        """A process has turns of its own: those of several processes may be called side by side."""
        if len(self._jobs) > 1 and not isinstance(target, IsolatedTarget):
            return TakingTurns.around(target, turn=self._turn)
        return target

    def _advance(self, inputs: int) -> None:
        if self._stop.is_set() or interrupted.is_set():
            raise _Stopped
        self._observer.advance(inputs)


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
