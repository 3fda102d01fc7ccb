"""What is claimed of inputs, as tables and sentences show it: a grade, a range, a largest error, each with its bound.

A table has the mark before a claim (● every input was tried, ○ a sample), and `=` or `>=` before an error; a sentence
says it behind.
"""

from __future__ import annotations

from .grades import GRADES, MARKS, interval_text
from .numbers import NONE, ulp_text
from .parts import AccurateRange, Bound, Grade
from .result import Record

NO_GRADE = "not graded (no finite input was measured, or by an earlier version)"


def marked(claim: str, bound: Bound | None) -> str:
    """ "○ faithful"."""
    return f"{MARKS[bound]} {claim}" if bound and claim else claim


def said(claim: str, bound: Bound | None) -> str:
    """ "faithful (from a sample)"."""
    return f"{claim} (from a sample)" if bound == ">=" else claim


def grade_title(grade: Grade | None) -> str:
    """The grade in words; of a stored run of an earlier version, that it has none. No claim of any one result."""
    return GRADES[grade].title if grade else NO_GRADE


def grade_text(grade: Grade | None, bound: Bound | None) -> str:
    """ "○ faithful"."""
    return marked(grade_title(grade), bound)


def range_text(dtype: str, found: AccurateRange | None, bound: Bound) -> str:
    """ "○ x >= -1.32 but for 3 inputs"; empty where there is no such interval. `bound` is that of the result."""
    return marked(interval(dtype, found), found.bound or bound) if found else ""


def interval(dtype: str, found: AccurateRange) -> str:
    """The range and its exceptions, without a mark."""
    count = found.exceptions
    return interval_text(dtype, found) + (f" but for {count:,} input{'s' * (count != 1)}" if count else "")


def claim_text(record: Record) -> str:
    """The grade, or the range that it is of."""
    if record.grade == "accurate_range" and record.accurate_range is not None:
        return range_text(record.dtype, record.accurate_range, record.bound)
    return grade_text(record.grade, record.grade_bound)


def error_text(max_ulp: float | None, bound: Bound, digits: int = 3) -> str:
    """ ">=1.67e7"."""
    return NONE if max_ulp is None else f"{bound}{ulp_text(max_ulp, bound, digits)}"
