"""Which of two results is the better one."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..functions import FUNCTIONS, base_name
from .grades import ORDER
from .result import Record


def best_first(records: Iterable[Record]) -> list[Record]:
    """By grade, then by what ranks within it; results without a grade are last.

    On a range the wider one is better; with a small absolute error only, the smaller one; else the smaller error in
    ULP. Broken ones go by function, those that most people use at the very end. Among equals a library's shortest name
    comes first.
    """
    return sorted(records, key=lambda record: (_place(record), *_name(record)))


def worst_first(records: Iterable[Record]) -> list[Record]:
    """The reverse, but for the names of equals."""
    return sorted(records, key=lambda record: (tuple(-number for number in _place(record)), *_name(record)))


def _place(record: Record) -> tuple[float, float, float, float]:
    largest = math.inf if record.max_ulp is None else record.max_ulp
    grade = ORDER[record.grade] if record.grade else len(ORDER)
    return grade, _within(record, largest), largest, float(record.grade_bound != "=")


def _within(record: Record, largest: float) -> float:
    if record.grade == "broken":
        return -float([*FUNCTIONS].index(base_name(record.function)))
    if record.grade == "accurate_range" and record.accurate_range is not None:
        return -min(-record.accurate_range.low, record.accurate_range.high)
    if record.grade in ("absolute", "coarse") and record.max_abs_error is not None:
        return record.max_abs_error.units
    return largest


def _name(record: Record) -> tuple[int, str]:
    return len(record.target), record.key
