"""Plan x target x checks: ranges of chunks through an executor, tables merged exactly as they come, one result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from .. import own_faults
from ..buckets.reducer import Reduction
from ..buckets.table import MonotonePieces, Table, finish, merge
from ..buckets.table_text import table_of_text
from ..checks import Evidence, Policy
from ..checks import findings as found_by_checks
from ..errors import TargetFailure
from ..formats import Format, get_format
from ..functions import get_function
from ..inputs.plans import Plan
from ..machine import cores
from ..own_faults import guarded
from ..records.grades import graded
from ..records.measures import measured
from ..records.parts import Beside
from ..records.result import BoundKind, Record, Result, Time
from ..targets.execution_errors import ExecutionErrors, joined
from ..targets.extra_outputs import Differences, ExtraOutputs
from ..targets.probing import ordinary_numbers
from .beside import deciding, with_beside
from .budget import NOTHING, Budget
from .elsewhere import Elsewhere
from .identity import MANY
from .kept import Kept
from .minimize import failed, narrowed
from .part_measurer import PartMeasurer, Range
from .recording import checked, covered, executions_of, unmeasured
from .rounds import Round
from .widening import Widening

if TYPE_CHECKING:
    from ..targets.base import Target

EXHAUSTED = ("exception", "memory", "files")  # how a call may fail after others left too much behind


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
    budget: Budget = NOTHING,
    max_ulp: float | None = None,
    few_calls: bool = False,
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
    budget : what more inputs may cost, where the plan takes more (`Plan.widens`): not elsewhere, and not where a
        device judges
    max_ulp : a limit that decides which these are
    few_calls : beside those of the plan, because nobody asked for the target

    Returns
    -------
    Result : with `failure` set where the target raised or broke its contract, and with `own_faults` where our code
        failed
    """
    record, faults = unmeasured(target, plan, _bound_kind(target, plan)), list[str]()
    with guarded("measurement", faults):
        if kept:
            kept.begin(target, plan)
        more = budget if plan.widens else NOTHING
        swept = _Sweep(PartMeasurer(target, plan, progress), elsewhere, kept, more, max_ulp, faults)
        try:
            table, time = swept.run(workers or cores())
        except TargetFailure as failure:
            shown = _narrowed(target, get_format(plan.dtype), failure, faults)
            record = unmeasured(target, swept.plan, _bound_kind(target, swept.plan))
            return Result(graded(_failed(record, shown, faults), None), None)
        plan, fmt = swept.plan, get_format(plan.dtype)
        others = _with_answered(others, target, fmt, swept)
        for outputs in kept.outputs() if kept else ():
            outputs.add_to(others)
        tell = progress or (lambda inputs: None)
        evidence = Evidence(
            get_function(plan.function), fmt, target, table, plan, policy, others, tell, faults, few_calls
        )
        findings, failed_later = found_by_checks(evidence)
        noted = _first_noted(swept, target.noted(fmt.name))
        if failed_later and not (noted and noted.kind == "left behind" and failed_later.kind in EXHAUSTED):
            noted = failed_later
        noted = _narrowed(evidence.target, fmt, noted, faults) if noted else None
        beside: tuple[Beside, ...] = ()
        with guarded("judgement of outputs beside the plan", faults):
            beside = deciding(evidence)
            findings = with_beside(evidence, findings, beside)
        found = covered(unmeasured(target, plan, _bound_kind(target, plan)), plan)
        found = checked(
            measured(replace(found, beside=beside, executions=executions_of(fmt, swept.executions)), table),
            evidence,
            findings,
        )
        found = _failed(found, noted, faults) if noted else found
        return Result(graded(found, table), table, time)
    return unmeasured_by_us(record, faults)


def _narrowed(target: Target, fmt: Format, failure: TargetFailure, faults: list[str]) -> TargetFailure:
    """The failure, which says what of the call matters as far as that can be found."""
    with guarded("search for the smallest failing call", faults):
        failure = narrowed(target, fmt, failure)
    return failure


def _failed(record: Record, failure: TargetFailure, faults: Sequence[str]) -> Record:
    """The record with the failure."""
    return replace(failed(record, get_format(record.dtype), failure), own_faults=tuple(faults) or None)


def unmeasured_by_us(record: Record, faults: Sequence[str]) -> Result:
    """The result where a fault of ours left no measures: nothing is said of the implementation."""
    known = replace(record, failure=faults[-1], failure_kind=own_faults.KIND, own_faults=tuple(faults))
    return Result(graded(known, None), None)


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
    kept.begin(target, plan, MANY)
    part = Round(PartMeasurer(target, plan, progress), elsewhere, kept, chunks)
    part.measure(workers)
    if part.failure is not None:
        raise part.failure


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
    """One plan on one target, and more inputs as far as a budget goes; `plan` is that of all of them afterwards."""

    def __init__(
        self, here: PartMeasurer, elsewhere: Elsewhere[Range] | None, kept: Kept | None, budget: Budget,
        max_ulp: float | None, faults: list[str] | None = None,
    ) -> None:  # fmt: skip
        self._judged_there = is_judged_on_device(here.target, here.plan)
        self._widens = bool(budget) and elsewhere is None and not self._judged_there
        here.keep = self._widens
        self._here = here
        self._kept, self._budget, self._max_ulp = kept, budget, max_ulp
        self._faults: list[str] = [] if faults is None else faults
        self._first = Round(self._here, elsewhere, kept)
        self._target = here.target
        self.plan = here.plan
        self.differences: list[Differences] = []
        self.noted: list[tuple[str, int, TargetFailure]] = []
        self.executions: ExecutionErrors | None = None

    def run(self, workers: int) -> tuple[Table, Time | None]:
        """The merged table, and how long it took where nothing was kept from before.

        The failure raised is that of the first chunk that fails.
        """
        start = perf_counter()
        if self._judged_there and self.plan.exhaustive:
            return self._swept_there(start)
        done, threads = self._first.measure(workers)
        self._took(self._first)
        table, target_s = self._first.table(), self._first.target_s
        if self._widens:
            with guarded("search among more inputs than the plan's own", self._faults):  # without them, these stand
                more, table = self._widened(table, workers, perf_counter() - start)
                target_s, self.plan = target_s + more.target_s, more.plan
                self._took(more)
        table = finish(table, MonotonePieces.of(self._here.function, self._here.fmt))
        if self._judged_there:
            from .gpu_judge import searched

            text = self._target.apply(searched, self.plan.dtype, self.plan.function, self.plan.seed)
            table = merge([table, table_of_text(text)])
        return table, None if done else Time(perf_counter() - start, target_s, threads)

    def _took(self, found: Round | Widening) -> None:
        self.differences += found.differences
        self.executions = joined(self.executions, found.executions)
        self.noted += found.noted
        if found.failure is not None:
            raise found.failure

    def _widened(self, table: Table, workers: int, seconds: float) -> tuple[Widening, Table]:
        """More inputs, and the table with theirs; `seconds`: what those of the plan took."""
        measured = max(seconds, self._first.seconds / workers)
        more = Widening(
            self._here, self._first, self._budget, measured / self.plan.size, workers, self._max_ulp, self._kept
        )
        more.run()
        return more, more.table() if more.steps and more.failure is None else table

    def _swept_there(self, start: float) -> tuple[Table, Time]:
        """All inputs, where the implementation is: only the table comes back."""
        from .gpu_judge import swept

        table = table_of_text(self._target.apply(swept, self.plan.dtype, self.plan.function))
        self._here.progress(self.plan.size)
        seconds = perf_counter() - start
        return table, Time(seconds, seconds, 1)
