"""From a plan, a table and what the checks found to a record."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from ..buckets.table import NOISE
from ..checks import CHECKS, Evidence, Finding
from ..checks.two_outputs import TwoOutputs
from ..formats import get_format
from ..inputs.plans import Plan
from ..records.measures import text_of
from ..records.parts import Dispatch, FindingRecord, Witness
from ..records.result import BoundKind, Record
from .diagnosis import diagnosed

if TYPE_CHECKING:
    from ..targets.base import Target


def unmeasured(target: Target, plan: Plan, bound_kind: BoundKind) -> Record:
    """What names the result and its inputs."""
    fmt = get_format(plan.dtype)
    ranges = [":".join(fmt.bits_text(fmt.from_ordinal(end)) for end in span) for span in plan.spans or ()]
    command = ["gelu-verify", "run", target.name, "--function", plan.function, "--dtype", plan.dtype]
    command += ["--plan", plan.name, "--seed", str(plan.seed)]
    command += ["--length", str(plan.length)] if plan.length else []
    return Record(
        target=target.name,
        family=target.family,
        function=plan.function,
        dtype=plan.dtype,
        form=target.form,
        note=target.note,
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


def _dispatch(target: Target) -> Dispatch | None:
    """The level of its process, and what was seen of it."""
    if not target.level and not target.seen:
        return None
    return Dispatch(target.level or None, target.switches, target.seen or None)


def checked(record: Record, evidence: Evidence, findings: dict[str, Finding]) -> Record:
    """With what the checks found."""
    fmt = evidence.fmt
    return replace(
        diagnosed(record, evidence, findings),
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


def larger_elsewhere(record: Record, evidence: Evidence) -> Record:
    """With the largest error and its witness, where an input had two outputs and one is worse than the table's."""
    fmt, twice = evidence.fmt, TwoOutputs.judged(evidence)
    largest = None if twice is None else twice.largest(evidence)
    max_ulp = record.max_ulp
    if largest is None or (max_ulp is not None and largest[0] <= max_ulp + NOISE + 2.0**-40 * max_ulp):
        return record
    ulp, *bits = largest
    return replace(record, max_ulp=ulp, witness=Witness(*map(fmt.bits_text, bits)))
