"""The old and the new result of one target, function and dtype, and what every rule needs of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..records.result import Record
from .comparison import Change, ChangeWitness
from .kept import KeptChanges
from .worse import RULES, Direction, as_far_as_tried, larger_is_worse


@dataclass(frozen=True)
class Pair:
    """Two results of the same target, function and dtype; `kept`: what their buckets say."""

    old: Record
    new: Record
    kept: KeptChanges | None
    old_lists_failures: bool = False  # a check that is not among its `checks` did not fail
    new_lists_failures: bool = False
    both_tried: bool = False  # both are of the inputs that both tried

    @property
    def is_measured(self) -> bool:
        """Whether both have errors that can be compared: a target that failed has none."""
        return all(record.failure is None or record.max_ulp is not None for record in (self.old, self.new))

    @property
    def same_inputs(self) -> bool:
        """Whether both tried the same inputs, as far as that can be known."""
        return self.both_tried or have_same_inputs(self.old, self.new)


def have_same_inputs(old: Record, new: Record) -> bool:
    """All inputs of the dtype, or those with the same digest."""
    if old.bound == new.bound == "=" and not (old.ranges or new.ranges):
        return True
    return old.inputs_sha256 is not None and old.inputs_sha256 == new.inputs_sha256


def number_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


Numbers = Sequence[float | None]  # the old one and the new one


def number_change(
    what: str, direction: Direction | None, numbers: Numbers, *, unit: str = "", text: str = "",
    where: str | None = None, witness: ChangeWitness | None = None,
) -> Iterator[Change]:  # fmt: skip
    """The change of a number; none where it has no direction."""
    if direction is None:
        return
    old, new = numbers
    before, after = number_text(old), number_text(new)
    yield Change(
        what=what,
        where=where,
        direction=direction,
        old=None if old is None else before,
        new=None if new is None else after,
        old_number=old,
        new_number=new,
        text=text or f"{where or RULES[what].title}: {before} -> {after}{unit and f' {unit}'}",
        witness=witness,
    )


def as_tried(pair: Pair, direction: Direction | None) -> Direction | None:
    """The direction as far as the inputs allow it."""
    old, new = (record.bound == "=" and not record.ranges for record in (pair.old, pair.new))
    return as_far_as_tried(direction, old_is_exact=old, new_is_exact=new, same_inputs=pair.same_inputs)


def error_direction(pair: Pair, old: float | None, new: float | None) -> Direction | None:
    """The direction of a largest error, as far as the inputs allow it.

    NaN has no error: where more results are NaN, a smaller maximum may be that of fewer results.
    """
    direction = as_tried(pair, larger_is_worse(old, new))
    lost = [record.nonfinite.count if record.nonfinite else 0 for record in (pair.old, pair.new)]
    may_be_lost = {"better": lost[1] > lost[0], "worse": lost[1] < lost[0]}
    return "unknown" if may_be_lost.get(direction or "") else direction


def shown_by(old: object, new: object, direction: Direction | None) -> ChangeWitness | None:
    """The witness of the side with the larger error, and what the other gave there, where it is its witness too."""
    own, other = (old, new) if direction == "better" else (new, old)
    x, got, want = (getattr(own, f"{name}_bits", None) for name in ("x", "got", "want"))
    if x is None:
        return None
    elsewhere = getattr(other, "got_bits", None) if getattr(other, "x_bits", None) == x else None
    before, after = (got, elsewhere) if direction == "better" else (elsewhere, got)
    return ChangeWitness(x, before, after, want)
