"""The ranked table: one row per result with its grade and the numbers that rank, libraries before what we ship."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..formats import get_format
from ..records import numbers
from ..records.claims import grade_text, range_text
from ..records.grades import MARKS_SAY, ORDER
from ..records.ranking import worst_first
from ..records.result import Record
from . import text
from .folds import Fold, position, strip_layout
from .frames import RunLike, ordered_results, run_letter
from .verdicts import GROUPS, Group, dtype_rank, function_rank, group_of

Row = dict[str, Any]
UNGRADED = "ungraded"


@dataclass(frozen=True)
class RankedResult:
    """A result with its place: number of its run, number in the run."""

    run: int
    index: int
    record: Record

    @property
    def id(self) -> str:
        """The same on every page made from these runs: `A-12`."""
        return f"{run_letter(self.run)}-{self.index}"

    @property
    def grade(self) -> str:
        return self.record.grade or UNGRADED


def items_of(runs: Sequence[RunLike]) -> list[RankedResult]:
    """All results, in the order of every table."""
    return [RankedResult(run, index, record) for run, index, record in ordered_results(runs)]


def places(items: Sequence[RankedResult]) -> dict[str, int]:
    """{target: number of its colour and dash}, the same everywhere on a page.

    Counted within the function that a target computes: ours last, plain names before variants (`torch.gelu-erf`).
    """
    home: dict[str, Record] = {}
    for item in items:
        home.setdefault(item.record.target, item.record)
    found: dict[str, int] = {}
    for function in dict.fromkeys(record.function for record in home.values()):
        targets = [target for target, record in home.items() if record.function == function]
        found |= {
            target: place for place, target in enumerate(sorted(targets, key=lambda name: _plainness(home[name])))
        }
    return found


def _plainness(record: Record) -> tuple[int, bool, str, int, str]:
    group = list(GROUPS).index(group_of(record))
    return group, "-" in record.target or "@" in record.target, record.family, len(record.target), record.target


def ranked(items: Sequence[RankedResult], strips: Mapping[str, Fold], several: bool) -> list[tuple[Group, list[Row]]]:
    """[(group, rows)] of the groups that there are, the worst grade first; equal grades by function and dtype, and the
    worst of them first."""
    numbers = places(items)
    worst = {id(record): place for place, record in enumerate(worst_first(item.record for item in items))}
    in_order = sorted(items, key=lambda item: (*_rank(item.record), worst[id(item.record)]))
    rows = [_row(item, strips.get(item.id), several, numbers) for item in in_order]
    found = [(group, [row for row in rows if row["group"] == group]) for group in GROUPS]
    return [(group, members) for group, members in found if members]


def _rank(record: Record) -> tuple[int, int, int]:
    order = ORDER.get(record.grade, -1) if record.grade else -1
    return -order, function_rank(record.function), dtype_rank(record.dtype)


def _executed(record: Record) -> str:
    return f"executed: {record.executed}" if record.executed else ""


def _row(item: RankedResult, strip: Fold | None, several: bool, numbers: Mapping[str, int]) -> Row:
    record = item.record
    absolute, bits, speed = record.max_abs_error, record.mean_bits, record.throughput
    return {
        "id": item.id,
        "run": run_letter(item.run) if several else "",
        "group": group_of(record),
        "grade": item.grade,
        "mark_says": MARKS_SAY.get(record.grade_bound or "", ""),
        "title": grade_text(record.grade, record.grade_bound).partition(" (")[0],
        "order": ORDER.get(record.grade, -1) if record.grade else -1,
        "target": record.target,
        "place": numbers[record.target],
        "family": record.family,
        "version": record.version if group_of(record) == "library" else "",
        "note": "; ".join(filter(None, (record.form, record.note, f"version {record.version}", _executed(record)))),
        "function": record.function,
        "dtype": record.dtype,
        "sentence": record.sentence or _sentence(record),
        "tags": list(record.conventions or ()),
        "recorded": record.origin.recorded,
        "stale": record.origin.stale,
        "bound": record.bound,
        "max_ulp": record.max_ulp,
        "units": absolute and absolute.units,
        "error": absolute and absolute.error,
        "bits": bits and bits.normal,
        "plan_bits": bits and bits.plan,
        "precision": get_format(record.dtype).precision,
        "rate": speed and speed.elements_per_s,
        "spread": speed and speed.spread,
        "range": _range(record, strip),
        "strip": strip,
    }


def _sentence(record: Record) -> str:
    """Of a stored run without sentences: what is known."""
    if record.failure is not None:
        return f"{record.failure_kind or 'failed'}: {record.failure}"
    failed = ", ".join(record.failed_checks)
    return f"largest error {text.ulp_text(record.max_ulp, record.bound)} ULP" + (f"; fails {failed}" if failed else "")


def _range(record: Record, strip: Fold | None) -> Row | None:
    """The accurate range: its text, and where its bar lies on the axis of the strips, in per cent."""
    found = record.accurate_range
    if found is None:
        return None
    fmt, bins = get_format(record.dtype), strip.layout if strip else strip_layout(record.dtype)
    low, high = (int(bits, 16) for bits in (found.low_bits, found.high_bits))
    left, right = (round(100 * position(bins, bits, fmt), 1) for bits in (low, high))
    return {
        "left": left,
        "width": max(round(right - left, 1), 0.6),
        "text": range_text(record.dtype, found, record.bound),
        "low": found.low,
        "high": found.high,
    }


def up_text(value: float | None, digits: int = 2) -> str:
    """A size to a few digits, rounded up: what is said of it stays true."""
    if value is None or not math.isfinite(value):
        return text.NONE if value is None else "\N{INFINITY}"
    return short_exponent(numbers.up_text(value, digits)).replace("-", text.MINUS)


def short_exponent(number: str) -> str:
    """'1.7e38' for '1.7e+38', '2.1e-7' for '2.1e-07', also inside of a text."""
    return re.sub(r"(?<=\de)(?:\+|(-))0*(?=\d)", r"\1", number)
