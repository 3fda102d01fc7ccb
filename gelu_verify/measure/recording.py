"""From a plan, a table and what the checks found to a record."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from ..checks import CHECKS, Evidence, Finding
from ..formats import Format, get_format
from ..inputs.plans import Plan
from ..inputs.widened import Untried, longest_untried
from ..records.measures import text_of
from ..records.parts import Coverage, Dispatch, Execution, Executions, FindingRecord, Gap
from ..records.result import BoundKind, Record
from .diagnosis import diagnosed

if TYPE_CHECKING:
    from ..targets.base import Target
    from ..targets.execution_errors import ExecutionErrors


def unmeasured(target: Target, plan: Plan, bound_kind: BoundKind) -> Record:
    """What names the result and its inputs."""
    fmt = get_format(plan.dtype)
    ranges = [":".join(fmt.bits_text(fmt.from_ordinal(end)) for end in span) for span in plan.spans or ()]
    command = ["gelu-verify", "run", target.name, "--function", plan.function, "--dtype", plan.dtype]
    command += ["--plan", plan.name, "--seed", str(plan.seed)]
    command += ["--budget", f"{plan.steps}buckets" if plan.steps else "0"] if plan.widens or plan.steps else []
    command += ["--length", str(plan.length)] if plan.length else []
    return Record(
        target=target.name,
        family=target.family,
        function=plan.function,
        dtype=plan.dtype,
        form=target.form,
        note=target.note,
        expression=target.expression or None,
        version=target.version,
        executed=target.executed or None,
        dispatch=_dispatch(target),
        plan=plan.name,
        seed=plan.seed,
        ranges=tuple(ranges) or None,
        n=plan.size,
        inputs_sha256=plan.inputs_sha256,
        bound="=" if plan.exhaustive else ">=",
        bound_kind=bound_kind,
        repeat=shlex.join([*command, *(word for text in ranges for word in ("--bits", text))]),
    )


def covered(record: Record, plan: Plan) -> Record:
    """With how much of the dtype was tried, of which a table does not hold what was not."""
    gap, core_gap = (None if each is None else _gap(plan, each) for each in longest_untried(plan))
    return replace(record, coverage=Coverage(0.0, (), plan.steps, gap, core_gap))


def _gap(plan: Plan, untried: Untried) -> Gap:
    fmt = get_format(plan.dtype)
    low, high = (fmt.from_ordinal(end) for end in (untried.first, untried.last))
    ends = fmt.bits_text(low), float(fmt.fraction(low)), fmt.bits_text(high), float(fmt.fraction(high))
    return Gap(untried.last - untried.first + 1, *ends)


def _dispatch(target: Target) -> Dispatch | None:
    """The level of its process, and what was seen of it."""
    if not target.level and not target.seen:
        return None
    return Dispatch(target.level or None, target.switches, target.seen or None)


def executions_of(fmt: Format, found: ExecutionErrors | None) -> Executions | None:
    """What the executions gave of which the worst outputs were judged."""
    if found is None:
        return None
    each = [
        Execution(name, largest[0], *map(fmt.bits_text, largest[1:])) if largest else Execution(name)
        for name, largest in found.largest.items()
    ]
    floats, x = found.apart
    return Executions(found.same / found.outputs, floats, fmt.bits_text(x) if floats else None, tuple(each))


def checked(record: Record, evidence: Evidence, findings: dict[str, Finding]) -> Record:
    """With what the checks found."""
    fmt, record = evidence.fmt, diagnosed(record, evidence, findings)
    return replace(
        record,
        own_faults=tuple(evidence.own_faults) or None,
        variant=findings["variant"].value or findings["gradient_variant"].value,
        checks={name: finding.status for name, finding in findings.items()},
        findings={
            name: FindingRecord(
                finding.detail,
                text_of(fmt, finding.x_bits),
                text_of(fmt, finding.got_bits),
                text_of(fmt, finding.want_bits),
                text_of(fmt, finding.other_bits),
                CHECKS[name].severity_of(evidence.function, fmt, finding) if finding.status == "fail" else None,
            )
            for name, finding in findings.items()
            if finding.status != "not applicable"
        },
    )
