"""The gate: results held against their budgets.

A budget row is what a run measured on the recorded machine. A row of a library is for its release and for the
instruction-set level of the processor: elsewhere it does not apply, and what has no other row was not measured. Sources
depend on compiler, libm, libraries and instruction set, so their limits are exact only under the same conditions:

- same conditions and inputs as the row: over where a rule of `judge` (docs/compare.md) calls the result worse than the
  row; notes say where the bits are not the row's, and what is better;
- others, and the code of the row was measured here (`base`): the same, against what that gives, and over beyond the
  headroom of the row: a compiler or a library can lose what the code does not;
- others, and it was not: over beyond the headroom of the rule, and a note says why.

What a rule cannot compare is missing, as if it had not been measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from ..inputs.found import HardCases
from ..isa import level_of_machine
from ..judge.changes import changes_of_limits, named
from ..judge.rules import RULES, Measure, Tolerance
from ..judge.sentences import leading, sentence
from ..judge.sides import Change, Sides, measured_text
from ..records.claims import grade_text, grade_title
from ..records.result import Record
from .base import NO_BASES, Bases
from .budgets import round_up
from .keeping import failing_input, keep_command
from .measurements import Measurements
from .project import Project
from .rows import (
    COVERAGE,
    Budgets,
    Row,
    device_of,
    differences_here,
    is_exact,
    is_of,
    library_of,
    row_for,
)


@dataclass(frozen=True)
class RowVerdict:
    """Whether a row of the budgets is met, or why not, by which result, shown by which input (bits)."""

    key: str
    verdict: Literal["ok", "over", "missing"]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    record: Record | None = None
    witness: Mapping[str, str | None] | None = None  # x_bits, and got_bits and want_bits where they are known
    inputs: tuple[str, ...] = ()  # all inputs that show a reason (bits)


def verdicts(
    records: Sequence[Record],
    machine: Mapping[str, Any],
    budgets: Budgets,
    demanded: Collection[str] = (),
    *,
    unchanged: bool = False,
    bases: Bases = NO_BASES,
    absent: Mapping[str, str] = MappingProxyType({}),
) -> list[RowVerdict]:
    """One for each target/function/dtype that has a budget, in the order of the file, and then for each of `demanded`.

    Results without a row are not judged, and missing where they are demanded. Of two results with one key the first
    counts. One that is committed says so in a note; one that is stale is missing. `unchanged`: any result that is not
    that of the budget's run is over, where both have the same inputs and conditions. `absent`: why a target, file or
    family was not measured.
    """
    measured = {record.key: record for record in reversed(records)}
    keys = dict.fromkeys((*budgets.keys, *demanded))
    return [
        _held_against(budgets, measured[key], machine, unchanged, bases)
        if key in measured
        else RowVerdict(key, "missing", (_absence(key, absent),))
        for key in keys
    ]


def _absence(key: str, absent: Mapping[str, str]) -> str:
    """Why nothing of a target was measured, by its name, its file or its family."""
    names = (name for name in absent if is_of(name, key))
    return next((absent[name] for name in sorted(names, key=len, reverse=True)), "not in this run")


def _held_against(
    budgets: Budgets, record: Record, machine: Mapping[str, Any], unchanged: bool, bases: Bases
) -> RowVerdict:
    """A result, and the row that is for it, or what the code of that row gives here; missing where there is none."""
    key, row = record.key, row_for(budgets, record, machine)
    if row is None:
        return RowVerdict(key, "missing", (_no_budget(budgets, record, machine),), record=record)
    otherwise = differences_here(row, record, machine)
    why = ", ".join(otherwise) or _other_inputs(row, record)
    if key in bases.rows:
        found = _judged(bases.rows[key], record, True, unchanged, "the earlier code gives here")
        if found.verdict == "ok":  # no worse than the code was; but a compiler or a library may have lost more
            beyond = _judged(row, record, not otherwise, False)
            found = found if beyond.verdict == "ok" else beyond
        base = f"{bases.labels[key]}, measured here: {why}"
        note = base if is_exact(bases.rows[key], record) else f"{base}; it took other inputs, so headroom applies"
    else:
        found = _judged(row, record, not otherwise, unchanged)
        lacking = f", and its code was not measured here: {bases.absent[key]}" if key in bases.absent else ""
        note = f"{why}{lacking}: headroom applies" if why else ""
    return replace(found, notes=(*found.notes, note)) if note and not record.origin.stale else found


def _other_inputs(row: Row, record: Record) -> str:
    """How the inputs are not those of the row; empty where they are."""
    if is_exact(row, record):
        return ""
    if record.bound == "=":
        return f"on all inputs, the budget on {row.n:,} (`gelu-verify budget` makes one of all)"
    return "other inputs than the budget's"


def _no_budget(budgets: Budgets, record: Record, machine: Mapping[str, Any]) -> str:
    why = "has no budget"
    if record.has_failed:
        return f"{why}, and failed: {record.failure}"
    if rows := budgets.of(record.key):
        release = " at ".join(filter(None, library_of(record, level_of_machine(machine))))
        had = ", ".join(row.device or f"{row.library} at {row.level}" for row in rows)
        why = f"has no budget for {device_of(record) or release or 'a CPU'}, only for {had}"
    return f"{why}: `gelu-verify budget` makes one"


def judged(
    found: Measurements,
    budgets: Budgets,
    families: Collection[str] = (),
    project: Project | None = None,
    *,
    unchanged: bool = False,
    bases: Bases = NO_BASES,
) -> list[RowVerdict]:
    """What was measured against all that is demanded: each budget, what the project names, the required families."""
    named = [record.key for record in found.records if project and project.has(record)]
    rows = verdicts(found.records, found.machine, budgets, named, unchanged=unchanged, bases=bases, absent=found.absent)
    rows = [_with_command(row, budgets, project.cases) for row in rows] if project else rows
    judged_keys = {row.key for row in rows}
    told = [row.key for row in rows if row.verdict == "missing" or (row.record and row.record.origin.recorded)]
    asked = {str(name) for entry in (project.entries if project else ()) for name in entry.request.targets}
    absent = [
        RowVerdict(name, "missing", (why,))
        for name, why in found.absent.items()
        if name in asked and not any(key.startswith((f"{name}.", f"{name}/")) for key in told)
    ]
    demanded = required(families, found.records, found.absent)
    return [*rows, *absent, *(each for each in demanded if each.key not in judged_keys)]


def _with_command(found: RowVerdict, budgets: Budgets, cases: HardCases) -> RowVerdict:
    """The result, and by which command every plan takes the inputs that show it, where that of the row does not."""
    row = next(iter(budgets.of(found.key)), None)
    if row is None or found.record is None or not found.inputs or row.bound == "=":
        return found
    command = keep_command(found.record, found.inputs, row.plan, row.seed, cases)
    note = f"to try it in every later run: {command}"
    return replace(found, notes=(*found.notes, note)) if command else found


def required(families: Iterable[str], records: Sequence[Record], absent: Mapping[str, str]) -> list[RowVerdict]:
    """What is missing of families that must be measured, budgets or not: all of it, or results that are stale.

    What was executed on something else than its device is no measurement of that.
    """
    found = []
    for family in families:
        members = [record for record in records if record.family == family and not record.executed]
        if not members:
            reason = absent.get(family, "not in this run")
            found.append(RowVerdict(family, "missing", (f"required, but not measured and not recorded: {reason}",)))
        found += [_stale(record) for record in members if record.origin.stale]
    return found


def _stale(record: Record) -> RowVerdict:
    return RowVerdict(
        record.key, "missing", tuple(filter(None, (record.origin.recorded, record.origin.stale))), record=record
    )


def _judged(
    row: Row, record: Record, same_conditions: bool, unchanged: bool, others: str = "the budget's run"
) -> RowVerdict:
    """`others`: than which results these are others, where they are."""
    key = record.key
    if record.origin.stale:
        return _stale(record)
    if record.has_failed:
        inputs = failing_input(record)
        at = {"x_bits": inputs[0]} if inputs else None
        return RowVerdict(key, "over", (record.failure or "",), record=record, witness=at, inputs=inputs)
    if record.own_faults:
        return RowVerdict(key, "missing", record.own_faults, record=record)
    if reason := _unmeasured(row, record):
        return RowVerdict(key, "missing", (reason,), record=record)
    exact = same_conditions and is_exact(row, record)
    tolerance: Tolerance = "known" if exact else "headroom"
    sides = Sides(row.record(key), record, old_lists_failures=True, comparable=True, tolerance=tolerance)
    found = changes_of_limits(sides)
    worse = [each for each in found if each.verdict == "worse"]
    lead, (over, more) = leading(worse), named(worse)
    over = [lead, *(each for each in over if each is not lead)] if lead else []
    first = sentence(worse, record, "may have", partial(_limit, sides), partial(_text, sides))
    reasons = [*filter(None, (first,)), *(_text(sides, each) for each in over[1:]), *more]
    unknown = [f"not known to be within its budget: {each.text}" for each in found if each.verdict == "unknown"]
    notes = [*_notes(sides, found)]
    if exact and row.bits is not None and record.outputs_sha256 != row.bits:
        (reasons if unchanged else notes).append(f"other results than {others}, with the same conditions and inputs")
    if unchanged and not exact and not row.is_fixed:
        why = "machine, compiler or inputs are not those of the budget"
        unknown.append(f"whether results have changed is not known: {why}")
    better = [] if reasons or unknown else [_text(sides, each) for each in found if _is_tighter(each)]
    if better:
        notes.append(f"better than its budget: {'; '.join(better)} (`gelu-verify budget` makes it the limit)")
    notes += [record.origin.recorded] if record.origin.recorded else []
    verdict: Literal["over", "missing", "ok"] = "over" if reasons else "missing" if unknown else "ok"
    shown = sorted((each.witness for each in over if each.witness), key=lambda each: each.new_bits is None)
    bits = (
        {"x_bits": shown[0].x_bits, "got_bits": shown[0].new_bits, "want_bits": shown[0].want_bits} if shown else None
    )
    inputs = tuple(each.x_bits for each in shown)
    return RowVerdict(key, verdict, tuple(reasons or unknown), tuple(notes), record, bits, inputs)


def _notes(sides: Sides, found: Iterable[Change]) -> Iterator[str]:
    """What is told of limits that are kept."""
    yield from (_text(sides, each) for each in found if each.verdict == "neither")
    for each in found:
        if each.what == "check" and each.verdict == "better" and each.new == "pass":
            yield f"check {each.where} passes now, the budget still excuses it"


def _unmeasured(row: Row, record: Record) -> str:
    """What the budget asks for and the result does not have; empty where it has all."""
    if record.ranges:
        return f"measured on --bits {' '.join(record.ranges)} alone"
    if (row.bound == "=" and record.bound != "=") or not record.n >= COVERAGE * row.n:
        return f"measured on {record.n} inputs, the budget asks for {row.n} ({row.bound})"
    if row.intervals is not None and record.intervals is None:
        return "measured by an earlier version, which has no intervals of x: measure again"
    if row.grade is not None and record.grade is None:
        return "measured by an earlier version, which has no grades: measure again"
    return ""


def _text(sides: Sides, change: Change) -> str:
    """A change as the gate says it: what is now, and the limit."""
    record, measure = sides.new, RULES[change.what].measure
    if change.what == "grade" and record.grade and sides.old.grade:
        now = grade_text(record.grade, record.grade_bound)
        return f"{now}, budget {grade_title(sides.old.grade)}: {record.sentence}"
    if measure is None:
        return change.text
    place = f" in {change.where}" if change.where else ""
    if change.new_number is None:
        return f"no finite result{place}"
    number = measured_text(change.what, record, change.new_number)
    said = measure.said.format(number=number, place=change.where)
    return f"{said}, budget {_limit_text(sides, measure, change)}"


def _limit(sides: Sides, change: Change) -> tuple[float | None, str]:
    """What an error may be, and how that is said."""
    measure = RULES[change.what].measure
    assert measure is not None
    number = change.old_number
    limit = number if sides.tolerance != "headroom" else measure.headroom(number or 0.0)
    return limit, f"budget {_limit_text(sides, measure, change)}"


def _limit_text(sides: Sides, measure: Measure, change: Change) -> str:
    if change.old_number is None and sides.tolerance != "headroom":
        return "none"
    budget = measured_text(change.what, sides.old, change.old_number or 0.0)
    if sides.tolerance != "headroom":
        return budget
    limit = measured_text(change.what, sides.old, measure.headroom(change.old_number or 0.0))
    return f"{limit} ({budget} and the headroom)"


def _is_tighter(change: Change) -> bool:
    """Whether a new budget would limit it more tightly: the gate itself never changes one."""
    if change.verdict != "better" or change.what not in ("grade", "max_ulp"):
        return False
    old, new = change.old_number, change.new_number
    return old is None or (new is not None and round_up(new) < old)
