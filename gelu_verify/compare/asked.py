"""Changes of what was asked: the inputs, how they were judged, and what each check found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records.parts import FindingRecord, Severity
from ..records.result import Record
from .comparison import Change, ChangeWitness
from .pair import Pair, as_tried, shown_by
from .worse import Direction

SEVERITIES: tuple[Severity, ...] = ("convention", "loss", "defect")  # the worst last
ALWAYS_TRIED = ("minus_infinity", "plus_infinity", "nan", "signed_zero")  # checks of inputs that every plan has
_POLICY = re.compile(r"--policy[ =](\w+)")


def conditions(pair: Pair) -> Iterator[Change]:
    old, new = pair.old, pair.new
    if not pair.same_inputs:
        before, after = (_inputs(record) for record in (old, new))
        why = f"other inputs: {before} -> {after}"
        if before == after:
            why = f"inputs that are not known to be the same: {after}"
        text = f"{why}; equal numbers do not say that the results are the same"
        yield Change(what="conditions", where="inputs", direction="unknown", old=before, new=after, text=text)
    policies = [(_POLICY.search(record.repeat) or ["", "limit"])[1] for record in (old, new)]
    if policies[0] != policies[1]:
        text = f"judged by another policy at -inf: {policies[0]} -> {policies[1]}"
        yield Change(
            what="conditions", where="policy", direction="unknown", old=policies[0], new=policies[1], text=text
        )


def _inputs(record: Record) -> str:
    where = f", --bits {' '.join(record.ranges)}" if record.ranges else ""
    more = f" and {record.coverage.buckets:,} buckets" if record.coverage and record.coverage.buckets else ""
    return f"{record.n:,} of plan {record.plan}, seed {record.seed}{more}{where}"


def checks(pair: Pair) -> Iterator[Change]:
    if (pair.old.failure and not pair.old.checks) or (pair.new.failure and not pair.new.checks):
        return  # `failure` says so
    for name in dict.fromkeys([*pair.new.checks, *pair.old.checks]):
        yield from _check(pair, name)


def _check(pair: Pair, name: str) -> Iterator[Change]:
    old = pair.old.checks.get(name, "pass" if pair.old_lists_failures else None)
    new = pair.new.checks.get(name, "pass" if pair.new_lists_failures else None)
    found = [record.findings.get(name) for record in (pair.old, pair.new)]
    before, after = (finding.severity if finding else None for finding in found)
    if old == new != "fail" or {old, new} == {None, "not applicable"} or _is_untold(pair, old, new):
        return
    direction: Direction
    if new == "fail":
        how, direction = _newly_failing(old, before, after)
    elif old == "fail":
        how, direction = f"failed, and is {_outcome(new)} now", "unknown"
        if new == "pass":
            how, direction = "passes now", "better"
    else:
        how = f"was {_outcome(old)} and is {_outcome(new)} now"
        direction = "unknown" if new is None else "neither"
    if not how:
        if found[0] == found[1]:
            return
        how, direction = "fails otherwise", "neither"
    if name not in ALWAYS_TRIED:
        direction = as_tried(pair, direction) or "unknown"
    detail = next((finding.detail for finding in (found[1], found[0]) if finding and finding.detail), "")
    severity = f" ({after or before})" if "fail" in (old, new) and (after or before) else ""
    yield Change(
        what="check", where=name, direction=direction, old=old, new=new,
        text=f"check {name}{severity} {how}" + (f": {detail}" if detail else ""),
        witness=_of_findings(found[0], found[1], direction),
    )  # fmt: skip


def _is_untold(pair: Pair, old: str | None, new: str | None) -> bool:
    """Whether a check is missing only because a condensed run has no others than those that failed."""
    sides = (old, new, pair.old), (new, old, pair.new)
    return any(own is None and other != "fail" and not record.findings for own, other, record in sides)


def _outcome(outcome: str | None) -> str:
    return {"pass": "passed", None: "not asked"}.get(outcome, outcome or "")


def _newly_failing(old: str | None, before: Severity | None, after: Severity | None) -> tuple[str, Direction]:
    """Of a check that fails now: how to say it, and whether that is worse; no text where it failed before, too."""
    if old is None:
        return "fails, and was not asked before", "unknown"
    if old != "fail":
        return "newly fails", "worse"
    if before != after and before is not None and after is not None:
        is_worse = SEVERITIES.index(after) > SEVERITIES.index(before)
        return f"fails as a {after}, and as a {before} before", "worse" if is_worse else "better"
    return "", "neither"


def _of_findings(old: FindingRecord | None, new: FindingRecord | None, direction: Direction) -> ChangeWitness | None:
    return shown_by(old, new, "better" if direction == "better" else "worse")
