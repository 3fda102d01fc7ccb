"""Plan x target x checks: ranges of chunks through an executor, tables merged exactly as they come, one result."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.reducer import Reduction
from ..buckets.table import MonotonePieces, Table, finish, merge
from ..buckets.table_text import table_of_text
from ..checks import Evidence, Policy
from ..checks import findings as found_by_checks
from ..errors import TargetFailure
from ..fenv import in_default_environment
from ..formats import Format, get_format
from ..functions import get_function
from ..inputs.plans import Plan
from ..machine import cores
from ..records.grades import graded
from ..records.measures import measured
from ..records.result import BoundKind, Result, Time
from ..targets.extra_outputs import Differences, ExtraOutputs
from ..targets.probing import ordinary_numbers
from .elsewhere import Elsewhere
from .executors import Pool, on_threads, results
from .kept import Kept
from .minimize import failed, narrowed
from .parts import Merging, Part, unpacked
from .recording import checked, larger_elsewhere, unmeasured
from .work import Range, Work, ranges

if TYPE_CHECKING:
    from ..targets.base import Target

EXHAUSTED = ("exception", "memory", "files")  # how a call may fail after others left too much behind


@in_default_environment
def sweep(
    target: Target,
    plan: Plan,
    *,
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
    policy: Policy = "limit",
    others: ExtraOutputs | None = None,
    kept: Kept | None = None,
    elsewhere: Elsewhere[Range] | None = None,
) -> Result:
    """Judge `target` on every input of `plan`.

    Parameters
    ----------
    workers : threads; default the cores this process may use
    progress : called with the number of inputs of each chunk that is done
    policy : "formula" accepts NaN at -inf
    others : what the target answered before, when it was timed: judged with the rest
    kept : what was measured before, and where to keep what is measured now
    elsewhere : an executor whose workers find the target and the plan by themselves; default: threads of this process

    Returns
    -------
    Result : with `failure` set where the target raised or broke its contract
    """
    function, fmt = get_function(plan.function), get_format(plan.dtype)
    record = unmeasured(target, plan, _bound_kind(target, plan))
    try:
        swept = _Sweep(Work(target, plan, progress), elsewhere, kept)
        table, time = swept.run(workers or cores())
    except TargetFailure as failure:
        return Result(graded(failed(record, fmt, narrowed(target, fmt, failure)), None), None)
    others = _with_answered(others, target, fmt, swept)
    evidence = Evidence(function, fmt, target, table, plan, policy, others, progress or (lambda inputs: None))
    findings, failed_later = found_by_checks(evidence)
    noted = _first_noted(swept, target.noted(fmt.name))
    if failed_later and not (noted and noted.kind == "left behind" and failed_later.kind in EXHAUSTED):
        noted = failed_later
    record = checked(larger_elsewhere(measured(record, table), evidence), evidence, findings)
    record = failed(record, fmt, narrowed(target, fmt, noted)) if noted else record
    return Result(graded(record, table), table, time)


@in_default_environment
def sweep_part(
    target: Target,
    plan: Plan,
    chunks: Range,
    kept: Kept,
    *,
    workers: int,
    progress: Callable[[int], object],
    elsewhere: Elsewhere[Range] | None = None,
) -> None:
    """Measure some chunks and keep them, for who joins them with the others; raises TargetFailure."""
    _Sweep(Work(target, plan, progress), elsewhere, kept, chunks).measure(workers)


def _with_answered(others: ExtraOutputs | None, target: Target, fmt: Format, swept: _Sweep) -> ExtraOutputs:
    """All answers so far that are not in the table."""
    found = ExtraOutputs() if others is None else others
    found.differences.extend(sorted(swept.differences, key=lambda each: each.x.tolist()))
    if outputs := target.probe_outputs.get(fmt.name):
        x = np.resize(ordinary_numbers(fmt.name), len(outputs))
        found.add_call(x, np.array(outputs, fmt.uint), "at place {} of the first calls, of 4 elements each")
    return found


def _first_noted(swept: _Sweep, afterwards: TargetFailure | None) -> TargetFailure | None:
    """What the target did beside returning outputs, of which one is told: the same one whoever came first."""
    noted = [*swept.noted, *([(afterwards.kind, len(swept.noted), afterwards)] if afterwards else [])]
    return min(noted, key=lambda each: each[:2])[2] if noted else None


def is_judged_on_device(target: Target, plan: Plan) -> bool:
    """Whether a device judges its own answers: to all of float32, or to what it draws of float64 beside the plan."""
    judged = Reduction.judges(get_format("float32"), get_function(plan.function))
    by_width = {32: plan.exhaustive, 64: plan.dense}
    return target.judges_on_device and judged and by_width.get(get_format(plan.dtype).width, False)


def _bound_kind(target: Target, plan: Plan) -> BoundKind:
    """How the largest error was looked for."""
    if plan.exhaustive:
        return "exhaustive"
    return "searched" if is_judged_on_device(target, plan) else "sampled"


# ---- measuring -----------------------------------------------------------------------------------


class _Sweep:
    """One plan on one target: ranges of chunks go through an executor until none is left, or one fails."""

    def __init__(
        self, here: Work, elsewhere: Elsewhere[Range] | None, kept: Kept | None, chunks: Range | None = None
    ) -> None:
        self._here, self._elsewhere, self._kept = here, elsewhere, kept
        self._target, self._plan = here.target, here.plan
        self._failure: TargetFailure | None = None
        self._asked = chunks or (0, len(here.plan.chunks))
        self._limit = self._asked[1]  # chunks from here on are of no interest: one before them failed
        self._tables = Merging()
        self._target_s = 0.0
        self.differences: list[Differences] = []
        self.noted: list[tuple[str, int, TargetFailure]] = []

    def run(self, workers: int) -> tuple[Table, Time | None]:
        """The merged table, and how long it took where nothing was kept from before.

        The failure raised is that of the first chunk that fails.
        """
        start, judged_there = perf_counter(), is_judged_on_device(self._target, self._plan)
        if judged_there and self._plan.exhaustive:
            return self._judged_there(start)
        done, threads = self.measure(workers)
        table = finish(self._tables.merged(), MonotonePieces.of(self._here.function, self._here.fmt))
        if judged_there:
            from .gpu_judge import searched

            text = self._target.apply(searched, self._plan.dtype, self._plan.function, self._plan.seed)
            table = merge([table, table_of_text(text)])
        return table, None if done else Time(perf_counter() - start, self._target_s, threads)

    def measure(self, workers: int) -> tuple[Sequence[Range], int]:
        """Measure what is not kept: what was, and on how many threads the rest is; raises a failure of the target."""
        done = list(self._taken_over())
        if self._elsewhere:
            self._measure(self._elsewhere.pool, done)
            threads = max(1, self._elsewhere.pool.width)
        else:
            threads = min(workers, self._asked[1] - self._asked[0])
            with on_threads(threads) as pool:
                self._measure(pool, done)
        if self._failure is not None:
            raise self._failure
        return done, threads

    def _judged_there(self, start: float) -> tuple[Table, Time]:
        """All inputs, where the implementation is: only the table comes back."""
        from .gpu_judge import swept

        table = table_of_text(self._target.apply(swept, self._plan.dtype, self._plan.function))
        self._here.progress(self._plan.size)
        seconds = perf_counter() - start
        return table, Time(seconds, seconds, 1)

    def _taken_over(self) -> Iterator[Range]:
        """The chunks that are kept from before."""
        for part in self._kept.parts() if self._kept else ():
            self._add(part)
            self._here.progress(part.size(self._plan))
            yield part.first, part.end

    def _measure(self, pool: Pool, done: Sequence[Range]) -> None:
        """All other chunks; what a failing item leaves of the plan after it is dropped."""
        items = deque(ranges(self._asked, done, pool.width))
        measured: Callable[[Range], Part | bytes] = (
            self._measured_here if self._elsewhere is None else self._elsewhere.measured
        )
        try:
            for (_, end), found in results(pool, measured, items):
                part = self._arrived(found) if isinstance(found, bytes) else found
                self._add(part)
                if part.end < min(end, self._limit):
                    items.appendleft((part.end, end))
                while items and items[-1][0] >= self._limit:
                    items.pop()
        finally:
            self._here.stopped.set()

    def _measured_here(self, chunks: Range) -> Part:
        try:
            part = self._here.measured(chunks)
        except BaseException:
            self._here.stopped.set()  # other threads end at their next chunk, before anybody has taken this up
            raise
        if self._kept:
            self._kept.add(part)
        return part

    def _arrived(self, content: bytes) -> Part:
        """What came from another process."""
        part = unpacked(content)
        if self._kept:
            self._kept.add(part) if part.failure else self._kept.add_packed(part.first, content)
        self._here.progress(part.size(self._plan))
        return part

    def _add(self, part: Part) -> None:
        if part.table is not None:
            self._tables.add(part.table)
        self._target_s += part.target_s
        if self._elsewhere:
            self._elsewhere.saw(part.seconds, part.worker)
        self.differences += part.differences
        self.noted += ((each.kind, part.first, each) for each in part.noted)
        if part.failure is not None and part.end < self._limit:
            self._failure, self._limit = part.failure, part.end
