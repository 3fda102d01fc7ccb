"""Plan x target x checks: chunks on threads, one table for each thread, merged exactly, one result.

A target is called by one thread at a time unless it says that it is safe in threads, because nobody knows whether
somebody else's code may be called by two; judging and reducing run beside it without the interpreter lock.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.approximation import approximation, without_overflow
from ..buckets.reducer import Outcome, Reduction, fill_strided
from ..buckets.table import NOISE, Facts, MonotonePieces, Table, finish, merge
from ..buckets.table_text import table_of_text
from ..checks import CHECKS, Evidence, Finding, Policy
from ..checks import findings as found_by_checks
from ..checks.two_outputs import TwoOutputs
from ..errors import TargetFailure
from ..fenv import in_default_environment
from ..formats import Format, get_format
from ..functions import Function, get_function
from ..inputs.plans import Chunk, Plan
from ..machine import cores
from ..records.grades import graded
from ..records.measures import measured, text_of
from ..records.parts import Dispatch, FindingRecord, Witness
from ..records.result import BoundKind, Record, Result, Time
from ..targets.extra_outputs import Differences, ExtraOutputs, collecting, differences
from ..targets.probing import ordinary_numbers
from ..truth.values import judge
from .diagnosis import diagnosed
from .minimize import failed, narrowed

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
) -> Result:
    """Judge `target` on every input of `plan`.

    Parameters
    ----------
    workers : threads; default the cores this process may use
    progress : called with the number of inputs of each chunk that is done
    policy : "formula" accepts NaN at -inf
    others : what the target answered before, when it was timed: judged with the rest

    Returns
    -------
    Result : with `failure` set where the target raised or broke its contract
    """
    function, fmt = get_function(plan.function), get_format(plan.dtype)
    record = _unmeasured(target, plan)
    try:
        swept = _Sweep(target, function, fmt, plan, progress)
        table, time = swept.run(workers or cores())
    except TargetFailure as failure:
        return Result(graded(failed(record, fmt, narrowed(target, fmt, failure)), None), None)
    others = _with_answered(others, target, fmt, swept)
    evidence = Evidence(function, fmt, target, table, plan, policy, others, progress or (lambda inputs: None))
    findings, failed_later = found_by_checks(evidence)
    noted = target.noted(fmt.name)
    if failed_later and not (noted and noted.kind == "left behind" and failed_later.kind in EXHAUSTED):
        noted = failed_later
    record = _checked(_larger_elsewhere(measured(record, table), evidence), evidence, findings)
    record = failed(record, fmt, narrowed(target, fmt, noted)) if noted else record
    return Result(graded(record, table), table, time)


def _with_answered(others: ExtraOutputs | None, target: Target, fmt: Format, swept: _Sweep) -> ExtraOutputs:
    """All answers so far that are not in the table."""
    found = ExtraOutputs() if others is None else others
    found.differences.extend(sorted(swept.differences, key=lambda each: each.x.tolist()))
    if outputs := target.probe_outputs.get(fmt.name):
        x = np.resize(ordinary_numbers(fmt.name), len(outputs))
        found.add_call(x, np.array(outputs, fmt.uint), "at place {} of the first calls, of 4 elements each")
    return found


def is_judged_on_device(target: Target, plan: Plan) -> bool:
    """Whether a device judges its own answers: to all of float32, or to what it draws of float64 beside the plan."""
    judged = Reduction.judges(get_format("float32"), get_function(plan.function))
    by_width = {32: plan.exhaustive, 64: plan.dense}
    return target.judges_on_device and judged and by_width.get(get_format(plan.dtype).width, False)


# ---- measuring -----------------------------------------------------------------------------------


class _Sweep:
    """One plan on one target: every thread takes the next chunk until none is left or one fails."""

    def __init__(
        self, target: Target, function: Function, fmt: Format, plan: Plan, progress: Callable[[int], object] | None
    ) -> None:
        self._target, self._function, self._fmt, self._plan = target, function, fmt, plan
        self._progress = progress or (lambda inputs: None)
        self._pieces = MonotonePieces.of(function, fmt)
        self._lock = Lock()
        self._turn = None if target.safe_in_threads else Lock()
        self._next = 0
        self._failures: dict[int, BaseException] = {}
        self._target_s = 0.0
        self.differences: list[Differences] = []

    def run(self, workers: int) -> tuple[Table, Time]:
        """The merged table; the failure raised is that of the first chunk that fails."""
        start, threads = perf_counter(), min(workers, len(self._plan.chunks))
        there = is_judged_on_device(self._target, self._plan)
        if there and self._plan.exhaustive:
            return self._judged_there(start)
        if threads == 1:
            tables = [self._work()]
        else:
            with ThreadPoolExecutor(threads) as pool:
                try:
                    tables = list(pool.map(lambda _: self._work(), range(threads)))
                except BaseException:  # Ctrl-C: the threads stop at the next chunk
                    self._next = len(self._plan.chunks)
                    raise
        if self._failures:
            raise self._failures[min(self._failures)]
        table = finish(merge([table for table in tables if table is not None]), self._pieces)
        if there:
            from .gpu_judge import searched

            text = self._target.apply(searched, self._fmt.name, self._function.name, self._plan.seed)
            table = merge([table, table_of_text(text)])
        return table, Time(perf_counter() - start, self._target_s, threads)

    def _judged_there(self, start: float) -> tuple[Table, Time]:
        """All inputs, where the implementation is: only the table comes back."""
        from .gpu_judge import swept

        table = table_of_text(self._target.apply(swept, self._fmt.name, self._function.name))
        self._progress(self._plan.size)
        seconds = perf_counter() - start
        return table, Time(seconds, seconds, 1)

    def _work(self) -> Table | None:
        """The table of the chunks that this thread took; None where it came too late for one, or one failed."""
        worker = _Worker(self._target, self._function, self._fmt, self._pieces, self._turn)
        while (index := self._taken()) is not None:
            try:
                chunk = self._plan.chunks[index]
                worker.measure(chunk)
                with self._lock:
                    self._progress(chunk.size)
            except BaseException as failure:  # noqa: BLE001 - raised again by `run`, in the thread that asked
                self._failures[index] = failure
        with self._lock:
            self._target_s += worker.target_s
            self.differences.extend(worker.differences)
        return worker.table() if worker.measured and not self._failures else None

    def _taken(self) -> int | None:
        """Index of a chunk that nobody else takes; None when there are no more, or one has failed."""
        with self._lock:
            if self._failures or self._next >= len(self._plan.chunks):
                return None
            self._next += 1
            return self._next - 1


class _Worker:
    """One thread's table while it grows, and its room for inputs."""

    def __init__(
        self, target: Target, function: Function, fmt: Format, pieces: MonotonePieces, turn: Lock | None
    ) -> None:
        self._target, self._function, self._fmt, self._turn = target, function, fmt, turn
        self._reduction = Reduction(fmt, function, pieces)
        self._judged_here = Reduction.judges(fmt, function)
        self._facts = Facts()
        self._inputs: np.ndarray | None = None
        self.target_s = 0.0
        self.differences: list[Differences] = []
        self.measured = False

    def measure(self, chunk: Chunk) -> None:
        """Call, judge, reduce."""
        if chunk.is_strided and self._judged_here:
            self._measure_strided(chunk)
        else:
            self._measure_permuted(chunk)
        self.measured = True

    def table(self) -> Table:
        table = self._reduction.table()
        return replace(table, facts=table.facts.merged(self._facts))

    def _measure_strided(self, chunk: Chunk) -> None:
        """Inputs, call and judgement all in strided order, which is made anew instead of being kept."""
        if self._inputs is None or len(self._inputs) != chunk.size + 1:
            self._inputs = self._target.input_memory(self._fmt.name, chunk.size + 1)
        x = self._inputs
        fill_strided(chunk.first, x)
        got = np.ascontiguousarray(self._answer(x))
        if not self._reduction.add_strided(chunk.first, x, got, self._target.seals_inputs):
            asked = np.empty_like(x)
            fill_strided(chunk.first, asked)
            self._target.check_unchanged(self._fmt, asked, x)
        self._compare(x[:1], got[:1], got[-1:], len(x))

    def _measure_permuted(self, chunk: Chunk) -> None:
        x, order = chunk.x_bits(), chunk.order()
        shuffled, got = x[order], np.empty_like(x)
        lent = shuffled.copy()
        answers = self._answer(lent)
        self._target.check_unchanged(self._fmt, shuffled, lent)
        got[order[: len(x)]] = answers[: len(x)]  # of an input that comes twice, the first answer
        if len(order) > len(x):
            self._compare(shuffled[:1], answers[:1], answers[-1:], len(order))
        if self._judged_here:
            self._reduction.add_outputs(x, got)
            return
        want, error, faithful = judge(self._function.name, self._fmt.name, x, got)
        self._reduction.add_outcome(Outcome(x, got, want, without_overflow(self._fmt, got, error), faithful))
        if self._function.approximates is not None:
            self._facts = self._facts.merged(approximation(self._fmt, self._function.approximates, x, got))

    def _compare(self, x: np.ndarray, first: np.ndarray, last: np.ndarray, n: int) -> None:
        """The input that comes twice in a call of n: at its start, and at its end."""
        where = f"at index 0 in a call of {n}", f"at its last index, {n - 1}"
        self.differences += differences(self._fmt, x, first, last, where)

    def _answer(self, x: np.ndarray) -> np.ndarray:
        try:
            with self._turn or nullcontext(), collecting() as found:
                got, seconds = self._target.timed(self._fmt.name, x)
            self.differences += found
        except TargetFailure as failure:
            failure.inputs = x.copy() if failure.inputs is None else failure.inputs
            raise
        self.target_s += seconds
        return got


# ---- the record ----------------------------------------------------------------------------------


def _unmeasured(target: Target, plan: Plan) -> Record:
    """What names the result and its inputs."""
    fmt = get_format(plan.dtype)
    ranges = [":".join(fmt.bits_text(fmt.from_ordinal(end)) for end in span) for span in plan.spans or ()]
    command = ["gelu-verify", "run", target.name, "--function", plan.function, "--dtype", plan.dtype]
    command += ["--plan", plan.name, "--seed", str(plan.seed)]
    command += ["--length", str(plan.length)] if plan.length else []
    return Record(
        target=target.name,
        family=target.family,
        function=plan.function,
        dtype=plan.dtype,
        form=target.form,
        note=target.note,
        version=target.version,
        executed=target.executed or None,
        dispatch=_dispatch(target),
        plan=plan.name,
        seed=plan.seed,
        ranges=tuple(ranges) or None,
        n=plan.size,
        inputs_sha256=plan.inputs_sha256,
        bound="=" if plan.exhaustive else ">=",
        bound_kind=_bound_kind(target, plan),
        repeat=shlex.join([*command, *(word for text in ranges for word in ("--bits", text))]),
    )


def _dispatch(target: Target) -> Dispatch | None:
    """The level of its process, and what was seen of it."""
    if not target.level and not target.seen:
        return None
    return Dispatch(target.level or None, target.switches, target.seen or None)


def _bound_kind(target: Target, plan: Plan) -> BoundKind:
    """How the largest error was looked for."""
    if plan.exhaustive:
        return "exhaustive"
    return "searched" if is_judged_on_device(target, plan) else "sampled"


def _checked(record: Record, evidence: Evidence, findings: dict[str, Finding]) -> Record:
    """With what the checks found."""
    fmt = evidence.fmt
    return replace(
        diagnosed(record, evidence, findings),
        variant=findings["variant"].value or findings["gradient_variant"].value,
        checks={name: finding.status for name, finding in findings.items()},
        findings={
            name: FindingRecord(
                finding.detail,
                text_of(fmt, finding.x_bits),
                text_of(fmt, finding.got_bits),
                text_of(fmt, finding.want_bits),
                text_of(fmt, finding.other_bits),
                CHECKS[name].severity_of(evidence.function, fmt, finding) if finding.status == "fail" else None,
            )
            for name, finding in findings.items()
            if finding.status != "not applicable"
        },
    )


def _larger_elsewhere(record: Record, evidence: Evidence) -> Record:
    """With the largest error and its witness, where an input had two outputs and one is worse than the table's."""
    fmt, twice = evidence.fmt, TwoOutputs.judged(evidence)
    largest = None if twice is None else twice.largest(evidence)
    max_ulp = record.max_ulp
    if largest is None or (max_ulp is not None and largest[0] <= max_ulp + NOISE + 2.0**-40 * max_ulp):
        return record
    ulp, *bits = largest
    return replace(record, max_ulp=ulp, witness=Witness(*map(fmt.bits_text, bits)))
