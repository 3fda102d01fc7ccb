"""Two results of one target, function and dtype, what their buckets say, and what differs between them.

`Change` is the object of docs/compare.md, from which all forms derive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from ..formats import get_format
from ..records.fields import Bits as BitsText
from ..records.fields import Count, OneOf, Positive, about
from ..records.parts import NonFinite
from ..records.result import Record
from .rules import RULES, Measure, RuleVerdict, Tolerance, as_far_as_tried, verdict_of_measure

_LENGTH = re.compile(r"--length[ =](\d+)")
RuleName = Annotated[str, OneOf(RULES)]


@dataclass(frozen=True, slots=True)
class ChangeWitness:
    """An input that shows a change."""

    x_bits: BitsText = field(metadata=about("the input"))
    old_bits: BitsText | None = field(metadata=about("what it gave in the old run", null="where that was not kept"))
    new_bits: BitsText | None = field(metadata=about("what it gave in the new run", null="where that was not kept"))
    want_bits: BitsText | None = field(metadata=about("the correctly rounded value", null="where that was not kept"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that differs between the old and the new result."""

    what: RuleName = field(metadata=about("which of the rules above found it"))
    where: str | None = field(
        metadata=about("the region, interval or check", null="where it is of the whole result"), default=None
    )
    verdict: RuleVerdict = field(
        metadata=about(
            '`"worse"`, `"better"`, `"neither"`, or `"unknown"`: what was kept does not decide whether it is worse',
            key="direction",
        )
    )
    old: str | None = field(metadata=about("the value in the old run, for people", null="where it has none"))
    new: str | None = field(metadata=about("the value in the new run, for people", null="where it has none"))
    old_number: float | None = field(metadata=about("the same as a number", null="where it is not one"), default=None)
    new_number: float | None = field(metadata=about("the same as a number", null="where it is not one"), default=None)
    text: str = field(metadata=about("one line that says what changed"))
    is_small: bool = field(
        metadata=about(
            "whether it is only in buckets of an interval, less than 1/2 ULP, and outweighed by what is not",
            key="small",
        ),
        default=False,
    )
    witness: ChangeWitness | None = field(
        metadata=about("an input that shows it", null="where none was kept"), default=None
    )


@dataclass(frozen=True, slots=True)
class Bits:
    """How many results differ in their bits; only buckets with the same inputs in both runs are compared."""

    compared: Count = field(metadata=about("buckets that could be compared"))
    differ: Count = field(metadata=about("buckets of them in which a result differs"))
    inputs: Positive | None = field(
        metadata=about("inputs in the buckets that were compared", null="where there are none")
    )
    least: Count = field(metadata=about("at least so many inputs have another result"))
    most: Count = field(
        metadata=about("at most so many; the same as `least` where each bucket that differs has one input")
    )


def inputs_that_differ(bits: Bits) -> str:
    """How many inputs have other results, as far as that is known."""
    return f"{bits.least:,}" if bits.least == bits.most else f"{bits.least:,} to {bits.most:,}"


@dataclass(frozen=True)
class Shown:
    """A bucket that shows a change: its ends, as `--bits` takes them, and an input of it that has changed."""

    span: str = ""
    witness: ChangeWitness | None = None


@dataclass(frozen=True)
class IntervalChange:
    """What the buckets of one interval of x say."""

    interval: str
    worse: int  # buckets
    better: int
    differ: int
    clearly_worse: int  # by more than SMALL
    clearly_better: int
    worst: Shown  # where it got most worse
    best: Shown
    any: Shown


@dataclass(frozen=True)
class KeptChanges:
    """All of a result; `bits` is None where a run has no digests of its results.

    `left_out`: buckets of either run whose inputs are not those of the other.
    """

    left_out: int
    bits: Bits | None
    intervals: tuple[IntervalChange, ...]


# ---- the two results -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sides:
    """The old result, or a budget that limits it, and the new one; `kept`: what their buckets say."""

    old: Record
    new: Record
    kept: KeptChanges | None = None
    old_lists_failures: bool = False  # a check that is not among its `checks` did not fail
    new_lists_failures: bool = False
    comparable: bool = False  # the inputs are the same, whatever their digests; limits hold for any inputs
    tolerance: Tolerance = "known"
    by_chance: bool = False  # equal calls gave other outputs in both: what differs may be chance

    @property
    def is_measured(self) -> bool:
        """Whether both have errors that can be compared: a target that failed has none."""
        return all(record.failure is None or record.max_ulp is not None for record in (self.old, self.new))

    @property
    def same_inputs(self) -> bool:
        """Whether both tried the same inputs, as far as that can be known."""
        return self.comparable or (self.same_calls and have_same_inputs(self.old, self.new))

    @cached_property
    def same_calls(self) -> bool:
        """Whether outputs beside those of the plan, if any, are of calls that both made: timed ones, those lengths."""
        asked = [(each.throughput is not None, _LENGTH.findall(each.repeat)) for each in (self.old, self.new)]
        return asked[0] == asked[1] or not (self.old.beside or self.new.beside)

    @cached_property
    def lacking(self) -> frozenset[str]:
        """Keys that either does not have."""
        return self.old.lacking | self.new.lacking

    def as_tried(self, verdict: RuleVerdict | None) -> RuleVerdict | None:
        """The verdict as far as the inputs allow it."""
        old, new = (record.bound == "=" and not record.ranges and self.same_calls for record in (self.old, self.new))
        return as_far_as_tried(verdict, old_is_exact=old, new_is_exact=new, same_inputs=self.same_inputs)

    def verdict(self, measure: Measure, old: float | None, new: float | None) -> RuleVerdict | None:
        """Of a number, as far as the inputs allow it."""
        if measure.unit == "inputs" and old is not None:
            old *= self.new.n / self.old.n
        found = verdict_of_measure(measure, old, new, self.tolerance, get_format(self.new.dtype).width)
        if found in ("worse", "better") and self.by_chance:
            return "unknown"
        if measure.is_maximum:
            found = self.as_tried(found)
        lost = [record.nonfinite.count if record.nonfinite else 0 for record in (self.old, self.new)]
        may_be_lost = {"better": lost[1] > lost[0], "worse": lost[1] < lost[0]}
        is_of_fewer = measure.of_scored and self.tolerance != "headroom" and may_be_lost.get(found or "")
        if found is not None and is_of_fewer:
            return "neither" if self._is_of_the_lost_alone(found) else "unknown"
        return found

    def _is_of_the_lost_alone(self, verdict: RuleVerdict) -> bool:
        """Whether the buckets show that no input with an error in both results has got worse, or better."""
        kept = self.kept
        if kept is None or kept.left_out or kept.bits is None or kept.bits.inputs != kept.bits.compared:
            return False  # of a bucket with several inputs only the worst is known
        return not any(each.worse if verdict == "worse" else each.better for each in kept.intervals)


def have_same_inputs(old: Record, new: Record) -> bool:
    """All inputs of the dtype, or those with the same digest."""
    if old.bound == new.bound == "=" and not (old.ranges or new.ranges or old.second or new.second):
        return True
    return old.inputs_sha256 is not None and old.inputs_sha256 == new.inputs_sha256


def number_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def measured_text(what: str, record: Record, value: float | None) -> str:
    """A number of a rule, without its unit; a share as a count."""
    measure = RULES[what].measure
    if measure and measure.unit == "share" and value is not None:
        return f"{round(value * record.n):,} of {record.n:,}"
    return number_text(value)


def numbers(sides: Sides, what: str) -> Iterator[Change]:
    """The changes of the number of a rule, at each place that both have."""
    rule = RULES[what]
    measure = rule.measure
    if measure is None or rule.key in sides.lacking or not (measure.is_maximum or sides.same_inputs):
        return
    before, after = measure.read(sides.old), measure.read(sides.new)
    for place in after:
        if place not in before:
            continue
        (old, old_shown), (new, new_shown) = before[place], after[place]
        verdict = sides.verdict(measure, old, new)
        if verdict is None:
            continue
        texts = [measured_text(what, record, value) for record, value in ((sides.old, old), (sides.new, new))]
        unit = "" if measure.unit in ("", "share") else f" {measure.unit}"
        yield Change(
            what=what, where=place or None, verdict=verdict,
            old=None if old is None else number_text(old), new=None if new is None else number_text(new),
            old_number=old, new_number=new, text=f"{place or rule.title}: {texts[0]} -> {texts[1]}{unit}",
            witness=shown_by(old_shown, new_shown, verdict) or (_lost(sides) if what == "nonfinite" else None),
        )  # fmt: skip


def _lost(sides: Sides) -> ChangeWitness | None:
    """An input of the buckets at which one side has a finite result, and the other has not; None where none is kept."""
    fmt = get_format(sides.new.dtype)
    shown = (each.any.witness for each in (sides.kept.intervals if sides.kept else ()))
    for each in filter(None, shown):
        old, new = (fmt.is_finite(int(bits, 16)) if bits else None for bits in (each.old_bits, each.new_bits))
        if {old, new} == {True, False}:
            return each
    return None


def shown_by(old: object, new: object, verdict: RuleVerdict | None) -> ChangeWitness | None:
    """The witness of the side with the larger error, and what the other gave there, where it is its witness too; none
    where that is the same, or the input is among those of both sides, of which only the nearest to zero is known."""
    own, other = (old, new) if verdict == "better" else (new, old)
    x, got, want = (getattr(own, f"{name}_bits", None) for name in ("x", "got", "want"))
    elsewhere = getattr(other, "got_bits", None) if getattr(other, "x_bits", None) == x else None
    is_counted = isinstance(own, NonFinite) and isinstance(other, NonFinite) and other.x_bits is not None
    if x is None or (got is not None and got == elsewhere) or is_counted:
        return None
    before, after = (got, elsewhere) if verdict == "better" else (elsewhere, got)
    return ChangeWitness(x, before, after, want)
