"""More inputs than those of a plan, as far as a budget goes: in the buckets that decide what the result says.

In float32 a bucket is tried whole: 65,536 inputs, for which a fast target and its judgement take less than a
millisecond. In float64 thousands of its inputs are drawn, with the neighbours of its worst one. Which come next follows
from what was found so far (`next_buckets.py`); how many do is decided by the time. The table at the end is exactly that
of a sweep of all these inputs (`inputs/widened.py`): outputs of the plan's own inputs that lie in whole buckets are not
counted twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from ..buckets.table import Table, merge
from ..errors import TargetFailure
from ..inputs.plans import Chunk, Plan
from ..inputs.widened import BUCKET, MANY, chunks_of, outside, widened
from ..targets.execution_errors import ExecutionErrors, joined
from ..targets.extra_outputs import Differences
from .budget import MOST_BUCKETS, Budget
from .kept import Kept
from .next_buckets import next_buckets, next_fixed, refutes
from .part_measurer import PartMeasurer
from .rounds import Round

BESIDE, TOGETHER, MOST_DRAWN = 1 << 7, 16, 1 << 20  # float64: neighbours on either side, buckets of a call, all inputs
SLOW, SLOW_OF_ALL = 0.1, 1.0  # seconds of a call that is not made longer
LONG = 256  # buckets of a round from which on its calls may be longer
KNOWN = 4 * LONG  # buckets after which the speed is that of long calls


@dataclass
class Widening:
    """What came of more inputs; `run` adds to it until the budget is spent, or there are no more.

    Parameters
    ----------
    first : what the plan's own inputs gave, with their outputs
    seconds : that one input took, of all threads together
    """

    here: PartMeasurer
    first: Round
    budget: Budget
    seconds: float
    threads: int
    max_ulp: float | None = None
    kept: Kept | None = None
    calls: list[Chunk] = field(default_factory=list)
    steps: int = 0
    spent: float = 0.0
    target_s: float = 0.0
    differences: list[Differences] = field(default_factory=list)
    noted: list[tuple[str, int, TargetFailure]] = field(default_factory=list)
    failure: TargetFailure | None = None
    executions: ExecutionErrors | None = None

    def __post_init__(self) -> None:
        plan = self.here.plan
        self._explicit = [np.concatenate([chunk.explicit for chunk in plan.chunks if chunk.explicit is not None])]
        outputs = self.first.outputs()
        assert outputs is not None
        self._outputs = [outputs]
        self._times = 1 if self._is_whole else 2  # that an input is judged: `table` does it again where they are drawn
        self._whole: list[Table] = []
        self._done = np.zeros(1 << 16, dtype=bool)
        self._view = self.first.table()

    @property
    def plan(self) -> Plan:
        """The plan of all inputs that were tried."""
        return widened(self.here.plan, self.calls, self.steps) if self.calls else self.here.plan

    def run(self) -> None:
        """Round after round; a failure of the target ends it."""
        number = 0
        while self.failure is None and self._may_go_on():
            most = self._most - self.steps
            chosen = self._next_buckets()[:most]
            if not chosen:
                return
            number += 1
            if self._round(number, chosen) < len(chosen):
                return

    def _next_buckets(self) -> list[int]:
        here = self.here
        if here.plan.follows_outputs:
            return next_buckets(here.function, self._view, self._done, self.max_ulp)
        return next_fixed(here.function, here.fmt, self._done)

    def _may_go_on(self) -> bool:
        """Whether there is time for one bucket more, and still a question."""
        size = BUCKET if self._is_whole else self.here.plan.usual_length
        if self.steps >= self._most or size * self.seconds * self._times > self._left:
            return False
        return not refutes(self.here.function, self._view, self.budget.demand)

    @property
    def _takes_all(self) -> bool:
        """Whether all inputs would be tried in the time that the budget has for that, as far as is known yet."""
        rest = (MOST_BUCKETS - self.steps) * BUCKET * self.seconds
        is_known = self.steps >= KNOWN or self.spent >= self.budget.all_s / 30
        return self._is_whole and (not is_known or self.spent + rest <= self.budget.all_s)

    @property
    def _most(self) -> int:
        return MOST_BUCKETS if self._takes_all else self.budget.buckets

    @property
    def _left(self) -> float:
        """Seconds of the budget."""
        limit = self.budget.all_s if self._takes_all else self.budget.seconds
        return limit - self._times * self.spent

    @property
    def _is_whole(self) -> bool:
        return self.here.fmt.width == 32

    def _round(self, number: int, chosen: list[int]) -> int:
        """Try those buckets, or the first of them, as time allows; how many were."""
        plan, start = self.here.plan, perf_counter()
        if not self._is_whole:  # inputs are not drawn for calls that there is no time for
            in_time = self._left / (plan.usual_length * self.seconds * self._times)
            chosen = chosen[: TOGETHER * math.ceil(min(in_time, len(chosen)))]
        calls = self._calls(chosen)
        chunks = [chunk for chunk, _ in calls]
        work = self.here.of(replace(plan, chunks=chunks, size=sum(chunk.size for chunk in chunks)))
        item = max(1, int(SLOW / max(chunks[0].size * self.seconds * self.threads, 1e-9)))
        kept = self.kept.of_round(number) if self.kept else None
        done = Round(work, None, kept, until=start + self._left / self._times, longest=item)
        done.measure(self.threads)
        tried = chunks[: done.end]
        buckets = [bucket for _, some in calls[: done.end] for bucket in some]
        if tried and done.failure is None:
            self._add(tried, buckets, done)
        self.failure = done.failure
        self.calls += tried
        self.spent += max(perf_counter() - start, done.seconds / self.threads)
        self.steps += len(buckets)
        if tried:
            self.seconds = done.seconds / self.threads / sum(chunk.size for chunk in tried)
        self.target_s += done.target_s
        self.differences += done.differences
        self.executions = joined(self.executions, done.executions)
        self.noted += ((kind, len(plan.chunks) + at, each) for kind, at, each in done.noted)
        return len(buckets)

    def _add(self, tried: Sequence[Chunk], buckets: list[int], done: Round) -> None:
        """What a round found, for the choice of the next one and for the table at the end."""
        table = done.table()
        self._done[buckets] = True
        if self._is_whole:
            self._whole.append(table)
        else:
            outputs = done.outputs()
            assert outputs is not None
            self._explicit += (chunk.explicit for chunk in tried if chunk.explicit is not None)
            self._outputs.append(outputs)
            if sum(map(len, self._explicit[1:])) >= MOST_DRAWN:
                self._done[:] = True
        self._view = merge([self._view, table])

    def table(self) -> Table:
        """That of all inputs, each counted once; without what `finish` adds."""
        explicit, outputs = np.concatenate(self._explicit), np.concatenate(self._outputs)
        order = np.argsort(explicit, kind="stable")
        explicit, outputs = explicit[order], outputs[order]
        runs = outside(explicit, self.plan.whole, len(explicit))
        places = np.searchsorted(explicit, [run[0] for run in runs])
        if not runs:
            return merge(self._whole)
        rest = [(run, outputs[at : at + len(run)]) for run, at in zip(runs, places.tolist(), strict=True)]
        return merge([*self._whole, self.here.table_of(rest)])

    # ---- inputs --------------------------------------------------------------------------------------

    def _calls(self, chosen: list[int]) -> list[tuple[Chunk, list[int]]]:
        """The calls of a round, each with its buckets."""
        plan = self.here.plan
        if self._is_whole:
            is_fast = MANY * BUCKET * self.seconds * self.threads < (SLOW_OF_ALL if self._takes_all else SLOW)
            chunks = chunks_of(plan, chosen, MANY if is_fast and len(chosen) >= LONG else 1)
            first = [chunk.first // BUCKET + 0x8000 for chunk in chunks]
            return [(chunk, [*range(at, at + chunk.size // BUCKET)]) for chunk, at in zip(chunks, first, strict=True)]
        tried = np.sort(np.concatenate(self._explicit))
        found = []
        for index, start in enumerate(range(0, len(chosen), TOGETHER)):
            group = chosen[start : start + TOGETHER]
            each = [plan.usual_length // len(group)] * len(group)
            each[0] += plan.usual_length - sum(each)
            explicit = np.concatenate([self._drawn(b, n, tried) for b, n in zip(group, each, strict=True)])
            found.append((Chunk(index, plan.dtype, plan.seed, int(explicit[0]), len(explicit), explicit), group))
        return found

    def _drawn(self, bucket: int, count: int, tried: np.ndarray) -> np.ndarray:
        """So many inputs of a bucket that were not tried: neighbours of its worst, and one in each of equal parts."""
        shift = self.here.fmt.width - 16
        first = (bucket - 0x8000) << shift
        rng = np.random.default_rng([self.here.plan.seed, bucket])
        parts = 2 * count
        step = (1 << shift) // parts
        spread = first + np.arange(parts, dtype=np.int64) * step + rng.integers(0, step, size=parts)
        columns, beside = self._view.columns, np.empty(0, np.int64)
        row = int(np.searchsorted(columns["bucket"], bucket))
        is_there = self.here.plan.follows_outputs and row < len(columns["bucket"]) and columns["bucket"][row] == bucket
        if is_there and not np.isnan(columns["max_error"][row]):
            worst = self.here.fmt.ordinal(int(columns["max_error_x"][row]))
            beside = np.clip(worst + np.arange(-BESIDE, BESIDE), first, first + (1 << shift) - 1)
        fresh = np.concatenate([beside, rng.permutation(spread)])
        fresh = fresh[np.sort(np.unique(fresh, return_index=True)[1])]
        place = np.minimum(np.searchsorted(tried, fresh), len(tried) - 1)
        return np.sort(fresh[tried[place] != fresh][:count])
