"""Every change between two results, rule by rule, and the status that follows."""

from __future__ import annotations

from collections.abc import Iterable

from . import asked, measures, places
from .comparison import Change, Status
from .pair import Pair
from .worse import ORDER, Direction

_DIRECTIONS: tuple[Direction, ...] = ("worse", "unknown", "neither", "better")
_RULES = (
    measures.failures, measures.grades, asked.checks, measures.nonfinite, measures.largest, places.regions,
    places.intervals, measures.accurate_range, measures.tail, measures.shares, measures.others, measures.told,
    asked.conditions, places.bits,
)  # fmt: skip
_OF_FAILURES = (measures.failures, measures.grades)


def changes(pair: Pair, others: Iterable[Change] = ()) -> list[Change]:
    """Every change, and those `others`, the worst first."""
    rules = _RULES if pair.is_measured else _OF_FAILURES
    found = [change for rule in rules for change in rule(pair)]
    return sorted([*found, *others], key=_order)


def _order(change: Change) -> tuple[int, int, float]:
    """Worse before unknown, then by rule, then the largest error first."""
    is_worse = _DIRECTIONS.index(change.direction)
    return is_worse, ORDER[change.what], -(change.new_number if change.new_number is not None else -1.0)


def status(found: list[Change]) -> Status:
    """What these changes are together."""
    directions = {change.direction for change in found}
    if "worse" in directions:
        return "mixed" if "better" in directions else "worse"
    if "unknown" in directions:
        return "unknown"
    return "better" if "better" in directions else "changed" if directions else "same"
