"""An item of work: consecutive chunks of a plan, called, judged and reduced to one table.

A target is called by one thread at a time unless it says that it is safe in threads, because nobody knows whether
somebody else's code may be called by two; judging and reducing run beside it without the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.approximation import approximation
from ..buckets.reducer import Outcome, Reduction, fill_strided
from ..buckets.table import Facts, MonotonePieces, Table
from ..errors import TargetFailure
from ..fenv import in_default_environment
from ..formats import from_ordinals, get_format
from ..functions import get_function
from ..inputs.plans import Chunk, Plan
from ..targets.execution_errors import ExecutionErrors, joined
from ..targets.extra_outputs import Differences, collecting, differences
from ..truth.values import judge
from ..work.pools import ON_THREADS
from .parts import Part

if TYPE_CHECKING:
    from ..targets.base import Target

Range = tuple[int, int]  # chunks of a plan: the first, and the one after the last
LONGEST = 64  # chunks: of 2^20 inputs, a table of 1024 rows, which costs 2 ms to make and to keep


def ranges(asked: Range, done: Sequence[Range], workers: int, longest: int | None = None) -> Iterator[Range]:
    """The chunks that are asked for and not done, cut into items: several for each worker, none too long."""
    length = max(1, min(longest or LONGEST, (asked[1] - asked[0]) // (4 * max(workers, 1))))
    edges = [asked[0], *(edge for span in sorted(done) for edge in span), asked[1]]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        yield from ((first, min(first + length, end)) for first in range(start, end, length))


class PartMeasurer:
    """What measures ranges of chunks of one plan on one target, both in this process; from any thread."""

    def __init__(
        self,
        target: Target,
        plan: Plan,
        progress: Callable[[int], object] | None = None,
        seconds: float = ON_THREADS.item_seconds,
        keep: bool = False,
    ) -> None:
        """`seconds`: after which an item ends at the next chunk; `keep`: the outputs to explicit inputs, too."""
        self.target, self.plan, self._seconds, self.keep = target, plan, seconds, keep
        self.function, self.fmt = get_function(plan.function), get_format(plan.dtype)
        self._pieces = MonotonePieces.of(self.function, self.fmt)
        self.progress = progress or (lambda inputs: None)
        self._turn, self._telling = None if target.safe_in_threads else Lock(), Lock()
        self._kinds = set[str]()
        self.stopped = Event()  # nobody waits any more: items end at the next chunk

    def of(self, plan: Plan) -> PartMeasurer:
        """The same of other chunks, without telling how far it is."""
        return PartMeasurer(self.target, plan, lambda inputs: self.progress(0), self._seconds, self.keep)

    @in_default_environment
    def measured(self, chunks: Range) -> Part:
        """What came of those chunks, or of the first of them: as many as fit into an item, until one fails."""
        (first, last), start, failure = chunks, perf_counter(), None
        reducer, end = _Reducer(self.target, self.plan, self._pieces, self._turn, self.keep), first
        try:
            while end < last and not self.stopped.is_set() and (end == first or perf_counter() - start < self._seconds):
                chunk = self.plan.chunks[end]
                reducer.measure(chunk)
                end += 1
                with self._telling:
                    self.progress(chunk.size)
        except TargetFailure as found:
            failure = found
        table = reducer.table() if end > first else None
        return Part(
            first, end, table, reducer.target_s, perf_counter() - start,
            tuple(reducer.differences), tuple(self._noted()), failure,
            outputs=np.concatenate(reducer.outputs) if reducer.outputs else None,
            executions=reducer.executions,
        )  # fmt: skip

    def table_of(self, runs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Table:
        """The table of outputs that there are already: of each run its ordinals, ascending, and the outputs' bits."""
        reducer = _Reducer(self.target, self.plan, self._pieces, None)
        for ordinals, got in runs:
            reducer.judge(from_ordinals(self.fmt, ordinals), got)
        return reducer.table()

    def _noted(self) -> Iterator[TargetFailure]:
        """What the target did beside returning outputs: the first of each kind."""
        while (found := self.target.noted(self.fmt.name)) is not None:
            if found.kind not in self._kinds:
                self._kinds.add(found.kind)
                yield found


class _Reducer:
    """The table of one item while it grows, and its memory for inputs."""

    def __init__(
        self, target: Target, plan: Plan, pieces: MonotonePieces, turn: Lock | None, keep: bool = False
    ) -> None:
        self._target, self._turn, self._keep = target, turn, keep
        self._function, self._fmt = get_function(plan.function), get_format(plan.dtype)
        self._reduction = Reduction(self._fmt, self._function, pieces)
        self._judged_here = Reduction.judges(self._fmt, self._function)
        self._facts = Facts()
        self._inputs: np.ndarray | None = None
        self.target_s = 0.0
        self.differences: list[Differences] = []
        self.outputs: list[np.ndarray] = []
        self.executions: ExecutionErrors | None = None

    def measure(self, chunk: Chunk) -> None:
        """Call, judge, reduce."""
        if chunk.is_strided and self._judged_here:
            self._measure_strided(chunk)
        else:
            self._measure_permuted(chunk)

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
        if len(order) == len(x) + 1:
            self._compare(shuffled[:1], answers[:1], answers[-1:], len(order))
        elif len(order) > len(x):  # of a length that is given: the first inputs again, in their order
            first, again = np.resize(answers[: len(x)], len(order) - len(x)), answers[len(x) :]
            where = f"at index {{}} in a call of {len(order)}", "at index {} of the inputs that fill it up"
            self.differences += differences(self._fmt, shuffled[len(x) :], first, again, where)
        if self._keep:
            self.outputs.append(got)
        self.judge(x, got)

    def judge(self, x: np.ndarray, got: np.ndarray) -> None:
        """Outputs for inputs by ordinal."""
        if self._judged_here:
            self._reduction.add_outputs(x, got)
            return
        judgement = judge(self._function.name, self._fmt.name, x, got)
        self._reduction.add_outcome(Outcome.of(self._fmt, x, got, judgement))
        if self._function.approximates is not None:
            self._facts = self._facts.merged(approximation(self._fmt, self._function.approximates, x, got))

    def _compare(self, x: np.ndarray, first: np.ndarray, last: np.ndarray, n: int) -> None:
        """The input that comes twice in a call of n: at its start, and at its end."""
        if first[0] == last[0]:
            return
        where = f"at index 0 in a call of {n}", f"at its last index, {n - 1}"
        self.differences += differences(self._fmt, x, first, last, where)

    def _answer(self, x: np.ndarray) -> np.ndarray:
        try:
            with self._turn or nullcontext(), collecting() as found:
                got, seconds = self._target.timed(self._fmt.name, x)
                self.executions = joined(self.executions, self._target.execution_errors(self._fmt.name))
            self.differences += found
        except TargetFailure as failure:
            failure.inputs = x.copy() if failure.inputs is None else failure.inputs
            raise
        self.target_s += seconds
        return got
