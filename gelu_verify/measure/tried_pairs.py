"""Outputs of a target for pairs of x and a value of its second input, and what composing in the dtype gives there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from threading import Event, local
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.pairs import PairReduction
from ..buckets.table import MonotonePieces, Table, finish, merge
from ..errors import TargetFailure
from ..formats import from_ordinals, get_format, numpy_dtype, ordinals
from ..functions import get_function
from ..inputs.plans import Plan
from ..records.grades import ORDER, graded
from ..records.measures import bits_sha256, measured
from ..records.result import Record
from ..targets.extra_outputs import collecting
from ..truth.second_input import composed_bits, judge_pair
from .part_measurer import PartMeasurer
from .recording import unmeasured
from .rounds import Round

if TYPE_CHECKING:
    from ..targets.base import Target

TOGETHER = 64  # values that a thread takes at once, where every x is tried
FACTS = ("nonfinite", "wrong_sign", "zero_from", "beyond_x", "nan_wrong")  # of which a table has the output


@dataclass(frozen=True)
class PairCounts:
    """Outputs for pairs: how many are correctly rounded, how many faithful; `worst`: the largest error in ULP, infinite
    where an output is not finite and should be."""

    correct: int = 0
    faithful: int = 0
    worst: float = 0.0

    @classmethod
    def of(cls, table: Table) -> PairCounts:
        row, is_finite = table.worst(), not table.total("nonfinite")
        error = 0.0 if row is None else float(table.columns["max_error"][row])
        return cls(table.total("correct"), table.total("faithful"), error if is_finite else np.inf)

    def joined(self, other: PairCounts) -> PairCounts:
        """Of both."""
        worst = max(self.worst, other.worst)
        return PairCounts(self.correct + other.correct, self.faithful + other.faithful, worst)


@dataclass(frozen=True)
class TriedPairs:
    """What came of values of a second input.

    `alike`: of the buckets in which composing does not always round correctly, the number of those in which all outputs
    are the same as its, and of all of them; `worst`: values (bits, finite) of which one is the worst; `failure`: with
    the last value that was tried; `outputs_sha256`: digest of all outputs.
    """

    values: int = 0
    pairs: int = 0
    got: PairCounts = PairCounts()
    composed: PairCounts = PairCounts()
    alike: tuple[int, int] = (0, 0)
    worst: tuple[int, ...] = ()
    failure: TargetFailure | None = None
    outputs_sha256: str = ""


def tried_pairs(target: Target, plan: Plan, workers: int, tell: Callable[[int], object]) -> TriedPairs:
    """All values of the plan; `tell` is called with numbers of inputs."""
    if len(plan.second) > get_format(plan.dtype).sign_mask:
        return _in_parallel(target, plan, workers, tell)
    return _in_turn(target, plan, workers, tell)


Damage = tuple[int, bool, float]
MOST: Damage = len(ORDER), True, np.inf  # a failure


def damage(record: Record) -> Damage:
    """Larger where a result is worse: by its grade, then NaN and infinities, then the largest error in ULP."""
    is_wrong = bool(record.nonfinite and record.nonfinite.count)
    return ORDER[record.grade] if record.grade else len(ORDER), is_wrong, record.max_ulp or 0.0


def _alike(got: Table, composed: Table) -> tuple[int, int]:
    """As `TriedPairs.alike`, of tables of the same inputs. By counts, as a zero of either sign may be right, which the
    hashes tell apart."""
    wrong = composed.columns["correct"] < composed.columns["n"]
    same = got.columns["bits_hash"] == composed.columns["bits_hash"]
    return int((same & wrong).sum()), int(wrong.sum())


# ---- each value with the plan of its function of x -----------------------------------------------


def _in_turn(target: Target, plan: Plan, workers: int, tell: Callable[[int], object]) -> TriedPairs:
    fmt, pairs, values = get_format(plan.dtype), 0, 0
    got, composed, alike = PairCounts(), PairCounts(), (0, 0)
    largest: Damage = -1, False, 0.0
    worst, failure, digest = plan.second[0], None, sha256()
    for bits in plan.second:
        here = plan.at(bits)
        at = target.with_second(here.function, (bits,))
        measurer = PartMeasurer(at, here, tell)
        found = Round(measurer)
        found.measure(workers)
        if found.failure is not None:
            worst, failure = bits, found.failure
            break
        chunks = (chunk.x_bits() for chunk in here.chunks)
        steps = [(ordinals(fmt, x), composed_bits(plan.function, plan.dtype, bits, x)) for x in chunks]
        table, other = found.table(), measurer.table_of(steps)
        got, composed = got.joined(PairCounts.of(table)), composed.joined(PairCounts.of(other))
        more = _alike(table, other)
        alike = alike[0] + more[0], alike[1] + more[1]
        values, pairs = values + 1, pairs + here.size
        digest.update(f"{bits} {bits_sha256(table.columns)} ".encode())
        table = finish(table, MonotonePieces.of(get_function(here.function), fmt))
        size = damage(graded(measured(unmeasured(at, here, "sampled"), table), table))
        if found.differences or found.noted:  # another output of an equal call: seen in full where it is looked for
            size = MOST
        if size > largest:
            largest, worst = size, bits
    return TriedPairs(values, pairs, got, composed, alike, (worst,), failure, digest.hexdigest())


# ---- every x of 16 bits with each value ----------------------------------------------------------


def _in_parallel(target: Target, plan: Plan, workers: int, tell: Callable[[int], object]) -> TriedPairs:
    """On several threads; they count together."""
    parts = [plan.second[i : i + TOGETHER] for i in range(0, len(plan.second), TOGETHER)]
    every = _EveryX(target, plan, tell)
    with ThreadPoolExecutor(workers) as pool:
        try:
            values = sum(pool.map(every.tried, parts))
        finally:
            every.stopped.set()
    if not values:
        return TriedPairs(worst=tuple(every.worst()), failure=every.failure)
    got, composed = (merge([each.table() for each in all_of]) for all_of in (every.got, every.composed))
    counts = PairCounts.of(got), PairCounts.of(composed)
    worst = tuple(dict.fromkeys([*every.worst(), *every.shown_by(got)]))
    digest = bits_sha256(got.columns)
    return TriedPairs(values, values << 16, *counts, _alike(got, composed), worst, every.failure, digest)


class _EveryX:
    """Every x of a format of 16 bits, by ordinal, in one call with each value; from any thread."""

    def __init__(self, target: Target, plan: Plan, tell: Callable[[int], object]) -> None:
        self._target, self._plan, self._tell, self._fmt = target, plan, tell, get_format(plan.dtype)
        self._x = from_ordinals(self._fmt, np.arange(-(1 << 15), 1 << 15))
        self._mine = local()
        self.got: list[PairReduction] = []
        self.composed: list[PairReduction] = []
        self._farthest: list[tuple[float, int]] = []
        self._unsteady: list[int] = []
        self.failure: TargetFailure | None = None
        self.stopped = Event()

    def tried(self, values: Sequence[int]) -> int:
        """How many of the values were tried: none after a failure."""
        plan, done, farthest = self._plan, 0, (-1.0, 0)
        got, composed = self._reductions()
        for bits in values:
            if self.stopped.is_set():
                break
            x, is_finite = self._x.copy(), self._fmt.is_finite(bits)
            try:
                with collecting() as differences:
                    y, _ = self._target.with_second(plan.function, (bits,)).timed(plan.dtype, x)
                self._target.check_unchanged(self._fmt, self._x, x)
            except TargetFailure as failure:
                self._unsteady += [bits] * is_finite
                value = "" if is_finite else f", with {self._target.second} = {self._fmt.hex_float(bits)}"
                failure.args = (f"{failure}{value}",)
                self.failure = failure
                self.stopped.set()
                break
            got.add(bits, y)
            steps = composed_bits(plan.function, plan.dtype, bits, self._x)
            composed.add(bits, steps)
            if is_finite:
                farthest = max(farthest, (self._distance(y, steps), bits))
                self._unsteady += [bits] * bool(differences)
            self._tell(len(x))
            done += 1
        self._farthest.append(farthest)
        return done

    def _distance(self, y: np.ndarray, steps: np.ndarray) -> float:
        """About the largest error, absolute where the result is below 1, else relative."""
        kind = numpy_dtype(self._plan.dtype)
        with np.errstate(all="ignore"):
            one, two = (bits.view(kind).astype(np.float32) for bits in (y, steps))
            away = np.abs(one - two) / np.maximum(np.abs(two), 1)
        return float(np.max(away, where=np.isfinite(away), initial=0.0))

    def _reductions(self) -> tuple[PairReduction, PairReduction]:
        """Of this thread, of the target and of composing."""
        if not hasattr(self._mine, "reductions"):
            self._mine.reductions = tuple(PairReduction(self._plan.function, self._plan.dtype) for _ in range(2))
            for all_of, each in zip((self.got, self.composed), self._mine.reductions, strict=True):
                all_of.append(each)
        found: tuple[PairReduction, PairReduction] = self._mine.reductions
        return found

    def worst(self) -> Iterator[int]:
        """Values with which an equal call gave another output, an output is farthest from the truth, or most ULP."""
        yield from self._unsteady[:1]
        away, bits = max(self._farthest, default=(-1.0, 0))
        yield from [bits] if away >= 0 else []
        for each in self.got:
            if (found := each.worst) is not None:
                yield found[2]

    def shown_by(self, table: Table) -> Iterator[int]:
        """Values with which outputs are as the facts of the table have them: NaN, of the wrong sign, zero too early."""
        fmt, plan = self._fmt, self._plan
        values = [bits for bits in plan.second if fmt.is_finite(bits)]
        for x_ordinal, got_bits in (key[1:3] for name in FACTS if (key := getattr(table.facts, name))):
            x = np.full(len(values), fmt.from_ordinal(x_ordinal), fmt.uint)
            try:
                got = self._with_each(values, x)
            except TargetFailure:
                continue
            for place in np.flatnonzero(got == got_bits):
                one = slice(int(place), int(place) + 1)
                if not judge_pair(plan.function, plan.dtype, values[place], x[one], got[one]).faithful[0]:
                    yield values[place]
                    break

    def _with_each(self, values: Sequence[int], x: np.ndarray) -> np.ndarray:
        """Outputs for one x, with all values."""
        function, dtype = self._plan.function, self._plan.dtype
        if not self._target.one_second:
            return self._target.with_second(function, tuple(values)).timed(dtype, x)[0]
        each = (self._target.with_second(function, (bits,)).timed(dtype, x[:1])[0].copy() for bits in values)
        return np.concatenate(list(each))
