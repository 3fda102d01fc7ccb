"""What somebody demands of a result, whatever its budget: `--strict`, `--fail-on`, `--min-grade`, `--max-ulp`, and the
arguments of `assert_gelu_accurate`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from ..errors import UsageError
from ..formats import get_format
from ..measure.budget import OF_ALL_INPUTS
from ..records.claims import grade_text
from ..records.parts import FindingRecord, Grade, Severity
from ..records.ranking import worst_first
from ..records.result import Record
from ..truth.values import judge, reference_bits
from .changes import changes_of_limits
from .rules import RULES, SEVERITIES
from .sentences import error_sentence, with_cause
from .sides import Change, Sides


@dataclass(frozen=True)
class Demands:
    """What is demanded of a result; None: nothing.

    Parameters
    ----------
    fail_on : no check may fail with this severity, or a worse one
    min_grade : no result may have a worse grade
    max_ulp : no error may be larger
    regions : the same for regions of x, in the place of `max_ulp`
    allow : checks that may fail, each with the reason
    """

    fail_on: Severity | None = None
    min_grade: Grade | None = None
    max_ulp: float | None = None
    regions: Mapping[str, float] = field(default_factory=dict)
    allow: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self != Demands()

    def unmet(self, record: Record) -> list[Change]:
        """The limits on grade and largest error that it exceeds, or is not known to keep."""
        limited = {name for name in ("min_grade", "max_ulp") if getattr(self, name) is not None}
        lacking = {rule.key for rule in RULES.values()} - {name.removeprefix("min_") for name in limited}
        limits = replace(record, grade=self.min_grade, max_ulp=self.max_ulp, witness=None, lacking=frozenset(lacking))
        found = changes_of_limits(Sides(limits, record, comparable=True, tolerance="none"))
        return [change for change in found if change.verdict in ("worse", "unknown")]


def check_reachable(records: Iterable[Record], limits: Demands) -> None:
    """UsageError where no implementation could meet --max-ulp: correct rounding itself has larger errors."""
    if limits.max_ulp is None or limits.max_ulp >= 0.5:
        return
    for function, dtype in {(record.function, record.dtype): None for record in records if record.ranges is None}:
        fmt = get_format(dtype)
        x = np.array([fmt.round(Fraction(k, 29)) for k in range(1, 100)], fmt.uint)
        least = float(np.abs(judge(function, dtype, x, reference_bits(function, dtype, x)).error).max())
        if least > limits.max_ulp:
            reached = f"of {function} in {dtype} have errors of up to 0.5 ULP (at least {least:.3g})"
            raise UsageError(f"--max-ulp {limits.max_ulp:g} cannot be met: correctly rounded results {reached}")


def exceeded(records: Sequence[Record], limits: Demands) -> list[tuple[Record, str]]:
    """Each limit that a result does not meet, in words: the worst result first."""
    return [(r, what) for r in worst_first(records) for what in _exceeded(r, limits)]


def _exceeded(record: Record, limits: Demands) -> Iterator[str]:
    """The first sentence, then all else. Comparisons are written so that what is not known is over the limit."""
    if record.has_failed:
        yield record.failure or ""
    if record.failure is not None and not record.has_failed:
        return  # not known, by a fault of ours: neither met nor exceeded
    reasons = [*_over_numbers(record, limits)]
    if limits.fail_on is not None:
        reasons += _failed_checks(record, SEVERITIES[: SEVERITIES.index(limits.fail_on) + 1])
    lead = next((each for each in limits.unmet(record) if each.what == "max_ulp"), None)
    yield from (with_cause(reason, record, record.failed_checks, lead) for reason in reasons[:1])
    yield from reasons[1:]


def _over_numbers(record: Record, limits: Demands) -> Iterator[str]:
    """The error, then the grade."""
    unmet = {change.what: change for change in limits.unmet(record)}
    if limits.max_ulp is not None and "max_ulp" in unmet:
        if record.max_ulp is None or math.isnan(record.max_ulp):
            yield f"no error could be measured, --max-ulp {limits.max_ulp:g}"
        else:
            limit = limits.max_ulp, f"--max-ulp {limits.max_ulp:g}"
            yield error_sentence(unmet["max_ulp"], record, "may have", *limit)
    if "grade" in unmet:
        now = grade_text(record.grade, record.grade_bound)
        than = "worse than" if record.grade else "not known to meet"
        yield f"{now}, {than} --min-grade {limits.min_grade}: {record.sentence}"


def shown_input(record: Record, limits: Demands) -> dict[str, str | None]:
    """The input of the first reason, and what it gave and should have: of the failure, of the worst check that may not
    fail, or of the largest error; where that one is right, of the worst check that fails, or none."""
    if record.failure is not None and record.failure_range:
        return {"x_bits": record.failure_range.partition(":")[0]}
    is_of_error = limits.max_ulp is not None and not (record.max_ulp or 0.0) <= limits.max_ulp
    asked = [] if is_of_error or limits.fail_on is None else SEVERITIES[: SEVERITIES.index(limits.fail_on) + 1]
    worst = _worst_finding(record, asked) or record.witness
    if worst is None or worst.got_bits == worst.want_bits:
        worst = _worst_finding(record, SEVERITIES)
    return {f"{name}_bits": getattr(worst, f"{name}_bits", None) for name in ("x", "got", "want")}


def _worst_finding(record: Record, severities: Sequence[Severity]) -> FindingRecord | None:
    """Of failed checks with an input that shows it."""
    for severity in severities:
        for name in record.failed_checks:
            finding = record.findings.get(name)
            if finding and finding.severity == severity and finding.x_bits:
                return finding
    return None


def of_a_sample(records: Sequence[Record], limits: Demands) -> list[tuple[Record, str]]:
    """Results that meet a grade which speaks of all inputs, of some inputs: in words which."""
    if limits.min_grade not in OF_ALL_INPUTS:
        return []
    over = {record.key for record, _ in exceeded(records, limits)}
    return [(r, _sampled(r)) for r in records if r.bound != "=" and not r.ranges and r.key not in over]


def _sampled(record: Record) -> str:
    tried = f"{grade_text(record.grade, record.grade_bound)} in the {record.n:,} inputs that were tried"
    width = get_format(record.dtype).width
    if width > 32:
        return f"{tried}: all 2^{width} cannot be, so that is what a search did not refute"
    return f"{tried}, {record.n / 2.0**width:.2g} of all; plan default without --budget tries all"


def can_be_tried(record: Record) -> bool:
    """Whether all inputs of its dtype can be."""
    return get_format(record.dtype).width <= 32


def _failed_checks(record: Record, severities: Sequence[Severity]) -> Iterator[str]:
    """The worst first; of a stored run that does not say, every failure is a loss."""
    for severity in severities:
        for name in record.failed_checks:
            finding = record.findings.get(name)
            if (finding.severity if finding and finding.severity else "loss") == severity:
                yield f"check {name} fails ({severity}): {finding.detail if finding else 'no detail'}"
