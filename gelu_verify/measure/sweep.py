"""Plan x target x checks: chunks on threads, one table for each thread, merged exactly, one result.

A target is called by one thread at a time unless it says that it is safe in threads, because nobody knows whether
somebody else's code may be called by two; judging and reducing run beside it without the interpreter lock.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.approximation import approximation, without_overflow
from ..buckets.reducer import Outcome, Reduction, fill_strided
from ..buckets.summary import SUMMARY_KEYS, summary, text_of
from ..buckets.table import NOISE, Facts, MonotonePieces, Table, finish, merge
from ..buckets.table_text import table_of_text
from ..checks import Evidence, Finding, Policy
from ..checks import findings as found_by_checks
from ..checks.two_outputs import TwoOutputs
from ..errors import TargetFailure
from ..fenv import in_default_environment
from ..formats import Format, get_format
from ..functions import Function, get_function
from ..inputs.plans import Chunk, Plan
from ..targets.extra_outputs import Differences, ExtraOutputs, collecting, differences
from ..targets.probing import ordinary_numbers
from ..truth.values import judge
from .diagnosis import KEYS, traits
from .minimize import NO_FAILURE, failed, narrowed

if TYPE_CHECKING:
    import pandas as pd

    from ..targets.base import Target

Record = dict[str, Any]
EXHAUSTED = ("exception", "memory", "files")  # how a call may fail after others left too much behind


@dataclass(frozen=True)
class Time:
    """Seconds that a sweep took, seconds inside the target (summed over threads), and on how many threads."""

    sweep_s: float
    target_s: float
    threads: int

    @property
    @in_default_environment
    def ratio(self) -> float:
        """What the sweep took over what the calls alone would, spread over the same threads."""
        return self.sweep_s * self.threads / self.target_s


@dataclass
class Result:
    """What one sweep found: `record` is the documented JSON object, `table` the buckets (None on failure)."""

    record: Record
    table: Table | None
    time: Time | None = None

    @property
    def max_ulp(self) -> float | None:
        """Largest |E|; None where the target failed or nothing was scored."""
        return self.record["max_ulp"]

    @property
    def failure(self) -> str | None:
        """What the target did: raised, crashed, broke its contract; there are measures only where that spoiled none."""
        return self.record["failure"]

    @property
    def failed_checks(self) -> list[str]:
        """Names of the checks that failed."""
        return [name for name, verdict in self.record["checks"].items() if verdict == "fail"]

    @in_default_environment
    def frame(self) -> pd.DataFrame:
        """The bucket table, one row per bucket that has inputs."""
        import pandas as pd

        return pd.DataFrame({} if self.table is None else self.table.flat)


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
    identity = _identity(target, plan)
    try:
        swept = _Sweep(target, function, fmt, plan, progress)
        table, time = swept.run(workers or available_cores())
    except TargetFailure as failure:
        return Result({**identity, **_NOTHING, **failed(fmt, narrowed(target, fmt, failure))}, None)
    others = _with_answered(others, target, fmt, swept)
    evidence = Evidence(function, fmt, target, table, plan, policy, others, progress or (lambda inputs: None))
    findings, failed_later = found_by_checks(evidence)
    noted = target.noted(fmt.name)
    if failed_later and not (noted and noted.kind == "left behind" and failed_later.kind in EXHAUSTED):
        noted = failed_later
    fault = failed(fmt, narrowed(target, fmt, noted)) if noted else NO_FAILURE
    return Result({**identity, **_measures(evidence, findings), **fault}, table, time)


def _with_answered(others: ExtraOutputs | None, target: Target, fmt: Format, swept: _Sweep) -> ExtraOutputs:
    """All answers so far that are not in the table."""
    found = ExtraOutputs() if others is None else others
    found.differences.extend(sorted(swept.differences, key=lambda each: each.x.tolist()))
    if said := target.probe_outputs.get(fmt.name):
        x = np.resize(ordinary_numbers(fmt.name), len(said))
        found.add_call(x, np.array(said, fmt.uint), "at place {} of the first calls, of 4 elements each")
    return found


def is_judged_there(target: Target, plan: Plan) -> bool:
    """Whether a device judges its own answers: to all of float32, or to what it draws of float64 beside the plan."""
    judged = Reduction.judges(get_format("float32"), get_function(plan.function))
    by_width = {32: plan.exhaustive, 64: plan.dense}
    return target.judges_on_device and judged and by_width.get(get_format(plan.dtype).width, False)


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        there = is_judged_there(self._target, self._plan)
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
        self._room: np.ndarray | None = None
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
        if self._room is None or len(self._room) != chunk.size + 1:
            self._room = self._target.input_memory(self._fmt.name, chunk.size + 1)
        x = self._room
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

_NOTHING: Record = {
    **dict.fromkeys(SUMMARY_KEYS),
    "variant": None,
    "checks": {},
    "findings": {},
    **dict.fromkeys((*KEYS, "pair", "throughput", "time")),
    "buckets": None,
    "sha256": None,
}


def _identity(target: Target, plan: Plan) -> Record:
    fmt = get_format(plan.dtype)
    ranges = [":".join(fmt.bits_text(fmt.from_ordinal(end)) for end in span) for span in plan.spans or ()]
    command = ["gelu-verify", "run", target.name, "--function", plan.function, "--dtype", plan.dtype]
    command += ["--plan", plan.name, "--seed", str(plan.seed)]
    command += ["--length", str(plan.length)] if plan.length else []
    return {
        "target": target.name,
        "family": target.family,
        "function": plan.function,
        "dtype": plan.dtype,
        "form": target.form,
        "note": target.note,
        "version": target.version,
        "plan": plan.name,
        "seed": plan.seed,
        "ranges": ranges or None,
        "n": plan.size,
        "inputs_sha256": plan.inputs_sha256,
        "bound": "=" if plan.exhaustive else ">=",
        "bound_kind": _bound_kind(target, plan),
        "repeat": shlex.join([*command, *(word for text in ranges for word in ("--bits", text))]),
    }


def _bound_kind(target: Target, plan: Plan) -> str:
    """How the largest error was looked for."""
    if plan.exhaustive:
        return "exhaustive"
    return "searched" if is_judged_there(target, plan) else "sampled"


def _measures(evidence: Evidence, findings: dict[str, Finding]) -> Record:
    fmt = evidence.fmt
    return {
        **_NOTHING,
        **summary(evidence.function, evidence.table),
        **_larger_elsewhere(evidence),
        "variant": findings["variant"].value or findings["gradient_variant"].value,
        **traits(evidence, findings),
        "checks": {name: finding.status for name, finding in findings.items()},
        "findings": {
            name: {
                "detail": finding.detail,
                "x_bits": text_of(fmt, finding.x_bits),
                "got_bits": text_of(fmt, finding.got_bits),
                "want_bits": text_of(fmt, finding.want_bits),
            }
            for name, finding in findings.items()
            if finding.status != "not applicable"
        },
    }


def _larger_elsewhere(evidence: Evidence) -> Record:
    """The largest error with its witness, where an input had two answers and one of them is worse than the table's."""
    fmt, table, twice = evidence.fmt, evidence.table, TwoOutputs.judged(evidence)
    row, largest = table.worst(), None if twice is None else twice.largest(evidence)
    max_ulp = None if row is None else float(table.columns["max_error"][row])
    if largest is None or (max_ulp is not None and largest[0] <= max_ulp + NOISE + 2.0**-40 * max_ulp):
        return {}
    ulp, *bits = largest
    witness = {f"{name}_bits": fmt.bits_text(each) for name, each in zip(("x", "got", "want"), bits, strict=True)}
    return {"max_ulp": ulp, "witness": witness}
