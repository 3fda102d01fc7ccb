"""The gate: results held against their budgets.

A budget row is what a run measured on the recorded machine. A row of a library is for its release and for the
instruction-set level of the processor: elsewhere it does not apply, and what has no other row was not measured. Sources
call the system's libm, whose results differ between versions and instruction sets, so their limits are exact only where
they were measured:

- same libm, architecture, FMA, compiler and inputs as the row: no error of all inputs, of a region or of an interval is
  above that of the row, no fewer results are correctly rounded or faithful, no check fails that is not listed in
  `fails`, what -inf, +inf, NaN and -0 give is the same where it is not right, the accurate range is no smaller, and
  the grade is no worse; notes say where the bits are not the row's, and what is better;
- anything else: max(HEADROOM_RATIO * max_ulp, max_ulp + HEADROOM_ULP), in a part of x REGION_RATIO; shares of the
  results may be less by SHARE; a check that looks at last bits (LAST_BIT_CHECKS) may fail with a note, and a grade may
  be worse with a note, unless it is `broken`.

A row all of whose results were correctly rounded leaves none that could be another: there the bits must be the same on
every machine.

Comparisons are written so that a NaN is over every limit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..fenv import in_default_environment
from ..formats import get_format, value_text
from ..inputs.found import HardCases
from ..isa import level_of_machine
from ..records.claims import grade_text, grade_title, marked
from ..records.grades import ORDER
from ..records.parts import FindingRecord, IntervalErrors, RegionErrors, Witness
from ..records.result import Record
from .budgets import counts_of, round_up
from .keeping import failing_input, keep_command
from .measurements import Measurements
from .project import Project
from .rows import (
    COVERAGE,
    HEADROOM_RATIO,
    HEADROOM_ULP,
    MOST_NAMED,
    REGION_RATIO,
    SHARES,
    SPECIALS,
    Budgets,
    Row,
    compiler_of,
    conditions_of,
    is_earlier,
    library_of,
    on_gpu,
)

LAST_BIT_CHECKS = frozenset({"monotone", "range"})
SHARE = 0.1  # of the results, that may be rounded otherwise on another machine
Shown = Witness | IntervalErrors | FindingRecord  # what has bits of an input, of its output and of what is due


@dataclass(frozen=True)
class Compliance:
    """Whether a row of the budgets is met, or why not, by which result, shown by which input (bits)."""

    key: str
    outcome: Literal["ok", "over", "missing"]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    record: Record | None = None
    witness: Mapping[str, str | None] | None = None  # x_bits, and got_bits and want_bits where they are known
    inputs: tuple[str, ...] = ()  # all inputs that show a reason (bits)


@in_default_environment
def compliance(
    records: Sequence[Record],
    machine: Mapping[str, Any],
    budgets: Budgets,
    demanded: Collection[str] = (),
    *,
    unchanged: bool = False,
) -> list[Compliance]:
    """One for each target/function/dtype that has a budget, in the order of the file, and then for each of `demanded`.

    Results without a row are not judged, and missing where they are demanded. Of two results with one key the first
    counts. One that is committed says so in a note; one that is stale is missing. `unchanged`: any result that is not
    that of the budget's run is over, where both have the same inputs and conditions.
    """
    measured = {record.key: record for record in reversed(records)}
    keys = dict.fromkeys((*budgets.keys, *demanded))
    return [
        _held_against(budgets, measured[key], machine, unchanged)
        if key in measured
        else Compliance(key, "missing", ("not in this run",))
        for key in keys
    ]


def _held_against(budgets: Budgets, record: Record, machine: Mapping[str, Any], unchanged: bool) -> Compliance:
    """A result, and the row that is for it; missing where there is none."""
    here, level = conditions_of(machine), level_of_machine(machine)
    rows = budgets.of(record.key)
    row = next((row for row in rows if row.applies(record, level)), None)
    if row is not None:
        same_compiler = compiler_of(record) == row.compiler
        same_machine = same_compiler and here == (row.conditions or budgets.conditions)
        found = _judged(row, record, same_machine, unchanged)
        note = f"compiled by {compiler_of(record)}, the budget by {row.compiler}: headroom applies"
        return found if same_compiler else replace(found, notes=(*found.notes, note))
    why = "has no budget"
    if rows:
        release = " at ".join(library_of(record, level))
        why = f"has no budget for {release}, only for {', '.join(f'{row.library} at {row.level}' for row in rows)}"
    return Compliance(record.key, "missing", (f"{why}: `gelu-verify budget` makes one",), record=record)


@in_default_environment
def judged(
    found: Measurements,
    budgets: Budgets,
    families: Collection[str] = (),
    project: Project | None = None,
    *,
    unchanged: bool = False,
) -> list[Compliance]:
    """What was measured against all that is demanded: each budget, what the project names, the required families."""
    named = [record.key for record in found.records if project and project.has(record)]
    rows = compliance(found.records, found.machine, budgets, named, unchanged=unchanged)
    rows = [_with_command(row, budgets, project.cases) for row in rows] if project else rows
    judged_keys = {row.key for row in rows}
    asked = {str(name) for entry in (project.entries if project else ()) for name in entry.request.targets}
    absent = [
        Compliance(name, "missing", (why,))
        for name, why in found.absent.items()
        if name in asked and not any(key.startswith((f"{name}.", f"{name}/")) for key in judged_keys)
    ]
    demanded = required(families, found.records, found.absent)
    return [*rows, *absent, *(each for each in demanded if each.key not in judged_keys)]


def _with_command(found: Compliance, budgets: Budgets, cases: HardCases) -> Compliance:
    """The result, and by which command every plan takes the inputs that show it, where that of the row does not."""
    row = next(iter(budgets.of(found.key)), None)
    if row is None or found.record is None or not found.inputs:
        return found
    command = keep_command(found.record, found.inputs, row.plan, row.seed, cases)
    note = f"to try it in every later run: {command}"
    return replace(found, notes=(*found.notes, note)) if command else found


def required(families: Iterable[str], records: Sequence[Record], absent: Mapping[str, str]) -> list[Compliance]:
    """What is missing of families that must be measured, budgets or not: all of it, or results that are stale.

    What was executed on something else than its device is no measurement of that.
    """
    found = []
    for family in families:
        members = [record for record in records if record.family == family and not record.executed]
        if not members:
            reason = absent.get(family, "not in this run")
            found.append(Compliance(family, "missing", (f"required, but not measured and not recorded: {reason}",)))
        found += [_stale(record) for record in members if record.origin.stale]
    return found


def _stale(record: Record) -> Compliance:
    return Compliance(record.key, "missing", (record.origin.recorded, record.origin.stale), record=record)


@dataclass
class _Judgement:
    """A result against its row, while reasons are found. `exact`: measured where, and on what, the row was."""

    row: Row
    record: Record
    exact: bool
    same_inputs: bool
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    witness: Mapping[str, str | None] | None = None
    inputs: list[str] = field(default_factory=list)

    def over(self, reason: str, shown: Shown | None = None) -> None:
        """The row is exceeded; the first reason that has an input shows it."""
        self.reasons.append(reason)
        if shown is not None and shown.x_bits is not None:
            self.inputs.append(shown.x_bits)
            self.witness = self.witness or {name: getattr(shown, name) for name in ("x_bits", "got_bits", "want_bits")}

    def over_at(self, reason: str, x_bits: str | None) -> None:
        """The same, where only the input is known."""
        self.reasons.append(reason)
        if x_bits is not None:
            self.inputs.append(x_bits)
            self.witness = self.witness or {"x_bits": x_bits}

    def limit(self, budget: float, ratio: float = HEADROOM_RATIO) -> float:
        return budget if self.exact else max(ratio * budget, budget + HEADROOM_ULP)

    def limit_text(self, budget: float, limit: float) -> str:
        return f"{budget:g}" if self.exact else f"{limit:g} ({budget:g} and the headroom)"


def _judged(row: Row, record: Record, same_machine: bool, unchanged: bool) -> Compliance:
    key = record.key
    if record.origin.stale:
        return _stale(record)
    if record.has_failed:
        return Compliance(key, "over", (record.failure or "",), record=record, inputs=failing_input(record))
    if record.own_faults:
        return Compliance(key, "missing", record.own_faults, record=record)
    if reason := _unmeasured(row, record):
        return Compliance(key, "missing", (reason,), record=record)
    same = record.origin.device == row.device if on_gpu(record) else same_machine
    same_inputs = row.bound == "=" or _on_the_same_inputs(row, record)
    found = _Judgement(row, record, same and same_inputs, same_inputs)
    _judge_grade(found)
    _judge_errors(found)
    _judge_shares(found)
    _judge_bits(found, unchanged)
    _judge_checks(found)
    _judge_specials(found)
    if record.bound == "=" and not same_inputs:
        found.notes.append(
            f"on all inputs, the budget on {row.n:,}: headroom applies (`gelu-verify budget` makes one of all)"
        )
    if not found.reasons:
        _note_what_is_better(found)
    found.notes += [record.origin.recorded] if record.origin.recorded else []
    if unchanged and not found.exact and not found.reasons and not row.is_fixed:
        why = "whether results have changed is not known: machine, compiler or inputs are not those of the budget"
        return Compliance(key, "missing", (why,), tuple(found.notes), record)
    outcome: Literal["over", "ok"] = "over" if found.reasons else "ok"
    shown = found.witness, tuple(found.inputs)
    return Compliance(key, outcome, tuple(found.reasons), tuple(found.notes), record, *shown)


def _on_the_same_inputs(row: Row, record: Record) -> bool:
    """By name and seed, and by what these choose in this version, where that is known."""
    named = (row.plan, row.seed) == (record.plan, record.seed)
    return named and (row.inputs is None or row.inputs == record.inputs_sha256)


def _unmeasured(row: Row, record: Record) -> str:
    """What the budget asks for and the result does not have; empty where it has all."""
    if (row.bound == "=" and record.bound != "=") or not record.n >= COVERAGE * row.n:
        return f"measured on {record.n} inputs, the budget asks for {row.n} ({row.bound})"
    if row.intervals is not None and record.intervals is None:
        return "measured by an earlier version, which has no intervals of x: measure again"
    if row.grade is not None and record.grade is None:
        return "measured by an earlier version, which has no grades: measure again"
    return ""


def _judge_errors(found: _Judgement) -> None:
    row, record, before = found.row, found.record, len(found.reasons)
    limit = found.limit(row.max_ulp)
    if record.max_ulp is None:
        found.over("no finite result")
    elif not record.max_ulp <= limit:
        budget = found.limit_text(row.max_ulp, limit)
        found.over(f"{record.max_ulp:.6g} ULP {record.bound}, budget {budget}", record.witness)
    if row.regions is not None:
        _judge_parts(found, {part.region: part for part in record.regions or ()}, row.regions)
    if row.intervals is not None and len(found.reasons) == before:  # they repeat a region, more closely
        _judge_parts(found, {part.interval: part for part in record.intervals or ()}, row.intervals)


def _judge_parts(
    found: _Judgement, parts: Mapping[str, RegionErrors | IntervalErrors], budgets: Mapping[str, float]
) -> None:
    """The largest error of each region, or interval, that has one."""
    errors = {name: part.max_ulp for name, part in parts.items() if part.max_ulp is not None}
    limits = {name: found.limit(budgets.get(name, 0.0), REGION_RATIO) for name in errors}
    larger = [name for name, error in errors.items() if not error <= limits[name]]
    larger.sort(key=lambda name: -errors[name] / max(budgets.get(name, 0.0), 0.5))
    for name in larger[:MOST_NAMED]:
        part, limit = parts[name], found.limit_text(budgets.get(name, 0.0), limits[name])
        shown = part.witness if isinstance(part, RegionErrors) else part
        found.over(f"{errors[name]:.6g} ULP in {name}, budget {limit}", shown)
    if len(larger) > MOST_NAMED:
        found.over(f"larger errors in {len(larger) - MOST_NAMED} more parts of x")


def _judge_shares(found: _Judgement) -> None:
    """How many results are right, and the measures of all of them."""
    row, record = found.row, found.record
    if row.intervals is None:
        return
    slack = 0.0 if found.exact else SHARE
    for name, count in counts_of(record).items():
        budget = getattr(row, name)
        if not count * row.n >= (budget - slack * row.n) * record.n:
            found.over(f"{count} of {record.n} results {SHARES[name]}, budget {budget} of {row.n}{_slack(slack)}")
    allowed = row.nonfinite or 0
    if record.nonfinite is not None:
        count = record.nonfinite.count
        if not count * row.n <= (allowed if found.exact else HEADROOM_RATIO * allowed) * record.n:
            found.over_at(f"{count} finite inputs give inf or NaN, budget {allowed}", record.nonfinite.x_bits)
    if row.zero_sign is not None and record.zero_sign is not None:
        limit = row.zero_sign if found.exact else HEADROOM_RATIO * row.zero_sign
        if not record.zero_sign * row.n <= limit * record.n:
            found.over(
                f"{record.zero_sign} zeros of the wrong sign, budget {row.zero_sign}", record.findings.get("zero_sign")
            )
    for value, budget, what in (
        (record.mean_ulp, row.mean_ulp, "mean error"),
        (record.p99_ulp, row.p99_ulp, "99th percentile of the errors"),
    ):
        limit = found.limit(budget or 0.0, REGION_RATIO)
        if value is not None and not abs(value) <= limit:
            found.over(f"{what} {abs(value):.6g} ULP, budget {found.limit_text(budget or 0.0, limit)}")
    if row.max_abs is not None and (absolute := record.max_abs_error) is not None:
        limit = row.max_abs if found.exact else REGION_RATIO * row.max_abs
        if not absolute.error <= limit:
            found.over_at(f"absolute error {absolute.error:.3g}, budget {limit:.3g}", absolute.x_bits)
    _judge_zero(found)
    _judge_range(found)


def _judge_range(found: _Judgement) -> None:
    """Where results are within 4 ULP; on another machine, a last bit may decide that."""
    if found.row.accurate is None or not found.exact:
        return
    fmt, range_ = get_format(found.record.dtype), found.record.accurate_range
    low, high = (fmt.fraction(int(bits, 16)) for bits in found.row.accurate)
    if range_ is None:
        found.over("no accurate range, and the budget has one")
    elif fmt.fraction(int(range_.low_bits, 16)) > low or fmt.fraction(int(range_.high_bits, 16)) < high:
        now = marked(f"accurate from {range_.low:.6g} to {range_.high:.6g}", range_.bound)
        found.over(f"{now}, budget from {float(low):.6g} to {float(high):.6g}")


def _slack(slack: float) -> str:
    return f" (less {100 * slack:g} %)" if slack else ""


def _judge_zero(found: _Judgement) -> None:
    """Where the tail turns to zero; on another machine |x| may be a tenth smaller."""
    zero, budget = found.record.zero_from, found.row.zero_from
    if zero is None or budget is None or not is_earlier(zero.x_bits, budget):
        return
    fmt = get_format(found.record.dtype)
    if not found.exact and budget and abs(zero.x) >= 0.9 * abs(float(fmt.fraction(int(budget, 16)))):
        return
    limit = f"{float(fmt.fraction(int(budget, 16))):.6g}" if budget else "none"
    found.over_at(f"zero from {zero.x:.6g}, budget {limit}", zero.x_bits)


def _judge_bits(found: _Judgement, unchanged: bool) -> None:
    row, record = found.row, found.record
    if row.bits is None:
        return
    correct = counts_of(record)["correct"]
    if row.is_fixed and correct < record.n:
        found.over(f"{record.n - correct} results are not correctly rounded; of the budget's run all were")
    elif found.same_inputs and record.bits_sha256 != row.bits:
        if row.is_fixed:
            found.over("other results than the budget's run, all of which were correctly rounded")
        elif found.exact:
            (found.over if unchanged else found.notes.append)(
                "other results than the budget's run, with the same libm and inputs"
            )


def _judge_checks(found: _Judgement) -> None:
    row, record = found.row, found.record
    for name in sorted(set(record.failed_checks) - set(row.fails)):
        finding = record.findings.get(name)
        reason = f"check {name} fails: {finding.detail if finding and finding.detail else 'no detail'}"
        if (not found.exact and name in LAST_BIT_CHECKS) or (name == "zero_sign" and row.zero_sign is None):
            found.notes.append(reason)
        else:
            found.over(reason, finding)
    passing = [name for name in row.fails if record.checks.get(name) == "pass"]
    found.notes += [f"check {name} passes now, the budget still excuses it" for name in passing]


def _judge_specials(found: _Judgement) -> None:
    """A value that is wrong for a reason may not become wrong in another way."""
    row, record = found.row, found.record
    for check, name in SPECIALS.items():
        budget, finding = (row.specials or {}).get(name), record.findings.get(check)
        if budget is None or finding is None or finding.got_bits is None or check not in record.failed_checks:
            continue
        now, then = (_special_text(record.dtype, bits) for bits in (finding.got_bits, budget))
        if now != then and check in row.fails:
            found.over(f"f({name}) = {now}, the budget excuses {then}", finding)


def _special_text(dtype: str, bits: str) -> str:
    fmt = get_format(dtype)
    return "NaN" if fmt.is_nan(int(bits, 16)) else value_text(fmt, int(bits, 16))


def _judge_grade(found: _Judgement) -> None:
    """No worse than that of the row; on another machine a limit between two grades may be passed by a last bit."""
    grade, budget = found.record.grade, found.row.grade
    if grade is None or budget is None or ORDER[grade] <= ORDER[budget]:
        return
    now = grade_text(grade, found.record.grade_bound)
    reason = f"{now}, budget {grade_title(budget)}: {found.record.sentence}"
    if found.exact or grade == "broken":
        found.over(reason)
    else:
        found.notes.append(reason)


def _note_what_is_better(found: _Judgement) -> None:
    """What a new budget would limit more tightly: the gate itself never changes one."""
    row, record = found.row, found.record
    if not found.exact or record.max_ulp is None:
        return
    better = []
    if record.grade and row.grade and ORDER[record.grade] < ORDER[row.grade]:
        better.append(f"{grade_text(record.grade, record.grade_bound)}, budget {grade_title(row.grade)}")
    if round_up(record.max_ulp) < row.max_ulp:
        better.append(f"{record.max_ulp:.6g} ULP, budget {row.max_ulp:g}")
    if better:
        found.notes.append(f"better than its budget: {'; '.join(better)} (`gelu-verify budget` makes it the limit)")
