"""Chunks of one plan on one target: ranges of them go through an executor until none is left, or one fails."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from time import perf_counter

import numpy as np

from ..buckets.table import Table
from ..errors import TargetFailure
from ..targets.execution_errors import ExecutionErrors, joined
from ..targets.extra_outputs import Differences
from ..work.executors import Pool, on_threads, results
from .elsewhere import Elsewhere
from .kept import Kept
from .part_measurer import PartMeasurer, Range, ranges
from .parts import Merging, Part, unpacked


class Round:
    """What came of the chunks so far; `measure` adds to it.

    Parameters
    ----------
    chunks : which of the plan; default all
    until : `perf_counter` from which on no further range is begun; those before the last one that was begun are
        measured all the same, so that what was measured are the first of the chunks
    longest : chunks of one range at most; default as many as suit
    """

    def __init__(
        self,
        here: PartMeasurer,
        elsewhere: Elsewhere[Range] | None = None,
        kept: Kept | None = None,
        chunks: Range | None = None,
        *,
        until: float = math.inf,
        longest: int | None = None,
    ) -> None:
        self._here, self._elsewhere, self._kept = here, elsewhere, kept
        self._asked = chunks or (0, len(here.plan.chunks))
        self._limit = self._asked[1]  # chunks from here on are of no interest: one before them failed
        self._until, self._longest, self._telling = until, longest, Lock()
        self._tables = Merging()
        self._outputs: dict[int, np.ndarray] = {}
        self.failure: TargetFailure | None = None
        self.end = 0
        """The chunks before it were measured, or one of them failed."""
        self.seconds = self.target_s = 0.0
        self.differences: list[Differences] = []
        self.executions: ExecutionErrors | None = None
        self.noted: list[tuple[str, int, TargetFailure]] = []

    def measure(self, workers: int) -> tuple[Sequence[Range], int]:
        """Measure what is not kept: what was, and on how many threads the rest is."""
        done = list(self._taken_over())
        if self._elsewhere:
            self._measure(self._elsewhere.pool, done)
            threads = max(1, self._elsewhere.pool.width)
        else:
            threads = min(workers, self._asked[1] - self._asked[0])
            with on_threads(threads) as pool:
                self._measure(pool, done)
        if self.failure is not None:
            self.end = self._limit + 1
        return done, threads

    def table(self) -> Table:
        """That of all chunks measured, without what `finish` adds."""
        return self._tables.merged()

    def outputs(self) -> np.ndarray | None:
        """Those to explicit inputs, by ordinal, where they are kept."""
        found = [self._outputs[first] for first in sorted(self._outputs)]
        return np.concatenate(found) if found else None

    def _taken_over(self) -> Iterator[Range]:
        """The chunks that are kept from before."""
        for part in self._kept.parts() if self._kept else ():
            self._add(part)
            self.end = max(self.end, part.end)
            self._here.progress(part.size(self._here.plan))
            yield part.first, part.end

    def _measure(self, pool: Pool, done: Sequence[Range]) -> None:
        """All other chunks; what a failing item leaves of the plan after it is dropped."""
        items = deque(ranges(self._asked, done, pool.width, self._longest))
        measured: Callable[[Range], Part | bytes] = (
            self._measured_here if self._elsewhere is None else self._elsewhere.measured
        )
        try:
            for (_, end), found in results(pool, measured, items):
                part = self._arrived(found) if isinstance(found, bytes) else found
                self._add(part)
                was_begun = part.end > part.first
                if was_begun and part.end < min(end, self._limit):
                    items.appendleft((part.end, end))
                while items and items[-1][0] >= self._limit:
                    items.pop()
        finally:
            self._here.stopped.set()

    def _measured_here(self, chunks: Range) -> Part:
        with self._telling:
            if chunks[0] >= self.end:
                if perf_counter() >= self._until:
                    return Part(chunks[0], chunks[0], None)
                self.end = chunks[1]
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
        self._here.progress(part.size(self._here.plan))
        return part

    def _add(self, part: Part) -> None:
        if part.table is not None:
            self._tables.add(part.table)
        if part.outputs is not None:
            self._outputs[part.first] = part.outputs
        self.target_s += part.target_s
        self.seconds += part.seconds
        if self._elsewhere:
            self._elsewhere.saw(part.seconds, part.worker)
        self.differences += part.differences
        self.executions = joined(self.executions, part.executions)
        self.noted += ((each.kind, part.first, each) for each in part.noted)
        if part.failure is not None and part.end < self._limit:
            self.failure, self._limit = part.failure, part.end
