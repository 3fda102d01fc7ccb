"""What a gate says of inputs that were not tried: nothing, unless a grade of all of them is demanded.

A row limits the results of the inputs that its run tried, and a measurement is held against it on these. A demanded
grade (`min_grade` of a project, `gate --min-grade`) that one more input can take away speaks of all inputs: all of
float32 are tried then; in float64, where they cannot be, a search did not refute it, which a note says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..formats import get_format
from ..judge.demands import Demands, can_be_tried, exceeded, of_a_sample, shown_input
from ..records.parts import Grade
from ..records.result import Record
from .verdicts import RowVerdict

Demand = Callable[[Record], Grade | None]
"""The grade that is demanded of a result."""


def with_demands(rows: Iterable[RowVerdict], demand: Demand) -> list[RowVerdict]:
    """The rows, over where a grade is worse than demanded, and missing where only a sample shows that it is not."""
    return [_with_demand(row, row.record, demand(row.record)) if row.record else row for row in rows]


def _with_demand(row: RowVerdict, record: Record, grade: Grade | None) -> RowVerdict:
    if grade is None or record.has_failed or record.own_faults or record.origin.stale:
        return row
    limits = Demands(min_grade=grade)
    reasons = tuple(what for _, what in exceeded([record], limits))
    if reasons:
        before, shown = row.reasons if row.verdict == "over" else (), shown_input(record, limits)
        return replace(row, verdict="over", reasons=(*before, *reasons), witness=row.witness or shown)
    samples = tuple(f"of --min-grade {grade}: {what}" for _, what in of_a_sample([record], limits))
    if samples and can_be_tried(record) and row.verdict != "over":
        return replace(row, verdict="missing", reasons=(*row.reasons, *samples))
    return replace(row, notes=(*row.notes, *samples))


def tried(rows: Iterable[RowVerdict]) -> str:
    """On which inputs those within their budgets are; empty where there are none."""
    records = [row.record for row in rows if row.record is not None and row.verdict == "ok"]
    samples = [record for record in records if record.bound != "="]
    by_width: dict[int, list[int]] = {}
    for record in samples:
        by_width.setdefault(get_format(record.dtype).width, []).append(record.n)
    said = [f"{len(ns)} on {_range(min(ns), max(ns))} of 2^{width} inputs" for width, ns in sorted(by_width.items())]
    if whole := len(records) - len(samples):
        said.insert(0, f"{whole} on all inputs" if samples else "on all inputs")
    if samples:
        said.append("nothing is said of others")
    return ", ".join(said)


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
