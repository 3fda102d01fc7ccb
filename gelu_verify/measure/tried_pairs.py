"""Outputs of a target for pairs of x and a value of its second input, and what composing in the dtype gives there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, local
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.pairs import PairReduction
from ..buckets.table import Table, merge
from ..errors import TargetFailure
from ..formats import from_ordinals, get_format, ordinals
from ..inputs.plans import Plan
from ..truth.composed import composed_bits
from ..truth.second_input import judge_pair
from .part_measurer import PartMeasurer
from .rounds import Round

if TYPE_CHECKING:
    from ..targets.base import Target

TOGETHER = 64  # values that a thread takes at once, where every x is tried


@dataclass(frozen=True)
class PairCounts:
    """Outputs for pairs: how many are correctly rounded, how many faithful; `worst`: the largest error in ULP, infinite
    where an output is not finite and should be, with the finite value `at` (bits)."""

    correct: int = 0
    faithful: int = 0
    worst: float = -1.0
    at: int | None = None

    def joined(self, other: PairCounts) -> PairCounts:
        """Of both; of equal errors the first stays."""
        worse = other if other.worst > self.worst else self
        return PairCounts(self.correct + other.correct, self.faithful + other.faithful, worse.worst, worse.at)


@dataclass(frozen=True)
class TriedPairs:
    """What came of values of a second input; `failed`: that with which the target failed, the last that was tried.

    `alike`: of the buckets in which composing does not always round correctly, the number of those in which all outputs
    are the same as its, and of all of them.
    """

    values: int = 0
    pairs: int = 0
    got: PairCounts = PairCounts()
    composed: PairCounts = PairCounts()
    alike: tuple[int, int] = (0, 0)
    failed: int | None = None

    def joined(self, other: TriedPairs) -> TriedPairs:
        """Of both, of which the other one was tried later."""
        failed = self.failed if other.failed is None else other.failed
        got, composed = self.got.joined(other.got), self.composed.joined(other.composed)
        alike = self.alike[0] + other.alike[0], self.alike[1] + other.alike[1]
        return TriedPairs(self.values + other.values, self.pairs + other.pairs, got, composed, alike, failed)


def tried_pairs(target: Target, plan: Plan, workers: int, tell: Callable[[int], object]) -> TriedPairs:
    """All values of the plan; `tell` is called with numbers of inputs."""
    found = TriedPairs()
    for each in (_in_parallel if _takes_every_x(plan) else _in_turn)(target, plan, workers, tell):
        found = found.joined(each)
        if found.failed is not None:
            break
    return found


def _takes_every_x(plan: Plan) -> bool:
    return plan.exhaustive and get_format(plan.dtype).width == 16 and plan.length is None


# ---- each value with the plan of its function of x -----------------------------------------------


def _in_turn(target: Target, plan: Plan, workers: int, tell: Callable[[int], object]) -> Iterator[TriedPairs]:
    fmt = get_format(plan.dtype)
    for bits in plan.second:
        here = plan.at(bits)
        measurer = PartMeasurer(target.with_second(here.function, (bits,)), here, tell)
        measured = Round(measurer)
        measured.measure(workers)
        if measured.failure is not None:
            yield TriedPairs(failed=bits)
            continue
        runs = [
            (ordinals(fmt, x), composed_bits(plan.function, plan.dtype, bits, x))
            for x in (chunk.x_bits() for chunk in here.chunks)
        ]
        got, composed = measured.table(), measurer.table_of(runs)
        yield TriedPairs(1, here.size, _counts(got, bits), _counts(composed, bits), _alike(got, composed))


def _counts(table: Table, bits: int) -> PairCounts:
    row, is_finite = table.worst(), not table.total("nonfinite")
    error = 0.0 if row is None else float(table.columns["max_error"][row])
    return PairCounts(table.total("correct"), table.total("faithful"), error if is_finite else np.inf, bits)


def _alike(got: Table, composed: Table) -> tuple[int, int]:
    """As `TriedPairs.alike`, of tables of the same inputs: their hashes are 0 where all is correctly rounded."""
    wrong = composed.columns["bits_hash"] != 0
    same = got.columns["bits_hash"] == composed.columns["bits_hash"]
    return int((same & wrong).sum()), int(wrong.sum())


# ---- every x of 16 bits with each value ----------------------------------------------------------


def _in_parallel(target: Target, plan: Plan, workers: int, tell: Callable[[int], object]) -> Iterator[TriedPairs]:
    """On several threads; they count together."""
    parts = [plan.second[i : i + TOGETHER] for i in range(0, len(plan.second), TOGETHER)]
    every = _EveryX(target, plan, tell)
    with ThreadPoolExecutor(workers) as pool:
        try:
            values = sum(pool.map(every.tried, parts))
        finally:
            every.stopped.set()
    if values:
        alike = _alike(*(merge([each.table() for each in all_of]) for all_of in (every.got, every.composed)))
        counts = every.counts(every.got), every.counts(every.composed)
        yield TriedPairs(values, values << 16, *counts, alike, every.failed)
    else:
        yield TriedPairs(failed=every.failed)


class _EveryX:
    """Every x of a format of 16 bits, by ordinal, in one call with each value; from any thread."""

    def __init__(self, target: Target, plan: Plan, tell: Callable[[int], object]) -> None:
        self._target, self._plan, self._tell, self._fmt = target, plan, tell, get_format(plan.dtype)
        self._x = from_ordinals(self._fmt, np.arange(-(1 << 15), 1 << 15))
        self._mine = local()
        self.got: list[PairReduction] = []
        self.composed: list[PairReduction] = []
        self.failed: int | None = None
        self.stopped = Event()

    def tried(self, values: Sequence[int]) -> int:
        """How many of the values were tried: none after a failure."""
        plan, done = self._plan, 0
        for bits in values:
            if self.stopped.is_set():
                break
            x = self._x.copy()
            try:
                y, _ = self._target.with_second(plan.function, (bits,)).timed(plan.dtype, x)
                self._target.check_unchanged(self._fmt, self._x, x)
            except TargetFailure:
                self.failed = bits if self._fmt.is_finite(bits) else plan.second[0]
                self.stopped.set()
                break
            got, composed = self._reductions()
            got.add(bits, y)
            composed.add(bits, composed_bits(plan.function, plan.dtype, bits, self._x))
            self._tell(len(x))
            done += 1
        return done

    def _reductions(self) -> tuple[PairReduction, PairReduction]:
        """Of this thread, of the target and of composing."""
        if not hasattr(self._mine, "reductions"):
            self._mine.reductions = tuple(PairReduction(self._plan.function, self._plan.dtype) for _ in range(2))
            for all_of, each in zip((self.got, self.composed), self._mine.reductions, strict=True):
                all_of.append(each)
        found: tuple[PairReduction, PairReduction] = self._mine.reductions
        return found

    def counts(self, reductions: Sequence[PairReduction]) -> PairCounts:
        """Of all threads."""
        found = PairCounts()
        for each in reductions:
            table, worst = each.table(), each.worst
            error, at = (worst[0], worst[2]) if worst else (0.0, None)
            if (
                each in self.got
                and (key := table.facts.nonfinite)
                and (wrong := self._with(key[1], key[2])) is not None
            ):
                error, at = np.inf, wrong
            found = found.joined(PairCounts(table.total("correct"), table.total("faithful"), error, at))
        return found

    def _with(self, x_ordinal: int, got_bits: int) -> int | None:
        """A finite value with which x has that output, and should not; None where none is found again."""
        fmt, plan = self._fmt, self._plan
        values = [bits for bits in plan.second if fmt.is_finite(bits)]
        x = np.full(len(values), fmt.from_ordinal(x_ordinal), fmt.uint)
        if self._target.one_second:
            each = [self._target.with_second(plan.function, (bits,)).timed(plan.dtype, x[:1])[0] for bits in values]
            got = np.concatenate(each)
        else:
            got, _ = self._target.with_second(plan.function, tuple(values)).timed(plan.dtype, x)
        for place in np.flatnonzero(got == got_bits):
            if not judge_pair(plan.function, plan.dtype, values[place], x[:1], got[place : place + 1]).faithful[0]:
                return values[place]
        return None
