"""Every change between two results, rule by rule, and the verdict that follows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from . import asked, measures, places
from .rules import ORDER, RULES, RuleVerdict
from .sides import Change, Sides, numbers

Verdict = Literal["worse", "mixed", "vanished", "unknown", "changed", "better", "appeared", "same"]

MOST_NAMED = 3  # parts of x in one line
_VERDICTS: tuple[RuleVerdict, ...] = ("worse", "unknown", "neither", "better")
Finder = Callable[[Sides], Iterable[Change]]
_OF_FAILURES: tuple[Finder, ...] = (measures.failures, measures.grades)
_NUMBERS: list[Finder] = [
    partial(numbers, what=what) for what, rule in RULES.items() if rule.measure and what != "interval"
]
_RULES: tuple[Finder, ...] = (
    *_OF_FAILURES, asked.checks, *_NUMBERS, places.intervals, measures.accurate_range, measures.told, asked.conditions,
    places.bits,
)  # fmt: skip


def _intervals_of_limits(sides: Sides) -> Iterator[Change]:
    """As buckets say it: what had no error before, as NaN has none, is not worse now that it has one."""
    for change in numbers(sides, "interval"):
        if change.verdict != "unknown" or math.isnan(change.new_number or 0.0):
            yield change


_OF_LIMITS: tuple[Finder, ...] = (
    measures.grades,
    asked.limits,
    *_NUMBERS,
    _intervals_of_limits,
    measures.accurate_range,
)


def changes(sides: Sides, others: Iterable[Change] = ()) -> list[Change]:
    """Every change between two results, and those `others`, the worst first."""
    if not sides.is_measured:
        return _sorted([*_of(_OF_FAILURES, sides), *others])
    is_same = sides.old is sides.new and sides.kept is None  # most releases of a library return what the one before did
    return _sorted([*(() if is_same else _of(_RULES, sides)), *others])


def changes_of_limits(sides: Sides) -> list[Change]:
    """Those of a result and its budget, or of two budgets, the worst first."""
    return _sorted(_of(_OF_LIMITS, sides))


def named(found: Sequence[Change]) -> tuple[list[Change], list[str]]:
    """Those that a line has room for, and how many parts of x are left out: intervals repeat regions, more closely."""
    names = Counter(each.what for each in found)
    skipped = {"interval"} if names["region"] or names["max_ulp"] else set()
    parts = ("region", "interval")
    few = [
        each
        for what in names
        if what not in skipped
        for each in [one for one in found if one.what == what][: MOST_NAMED if what in parts else None]
    ]
    more = sum(max(names[what] - MOST_NAMED, 0) for what in parts if what not in skipped)
    return few, [f"larger errors in {more} more parts of x"] if more else []


def _of(rules: Iterable[Finder], sides: Sides) -> Iterator[Change]:
    return (change for rule in rules for change in rule(sides))


def _sorted(found: Iterable[Change]) -> list[Change]:
    """Worse before unknown, then by rule, then the largest error first."""
    return sorted(
        found,
        key=lambda each: (
            _VERDICTS.index(each.verdict),
            ORDER[each.what],
            -(each.new_number if each.new_number is not None else -1.0),
        ),
    )


def verdict_of(found: Iterable[Change]) -> Verdict:
    """What these changes are together: where all is known, small ones are outweighed by those that are not."""
    changes = [*found]
    verdicts = {change.verdict for change in changes}
    clear = {change.verdict for change in changes if not change.is_small}
    if {"worse", "better"} <= verdicts and "unknown" not in verdicts:
        verdicts = clear & {"worse", "better"} or verdicts
    if "worse" in verdicts:
        return "mixed" if "better" in verdicts else "worse"
    if "unknown" in verdicts:
        return "unknown"
    return "better" if "better" in verdicts else "changed" if verdicts else "same"
