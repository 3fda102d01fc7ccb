"""Changes of what was asked: the inputs, how they were judged, and what each check found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..formats import Format, get_format, value_text
from ..records.asking import BY_CALL
from ..records.parts import FindingRecord, Severity
from ..records.result import Record
from .rules import LAST_BIT_CHECKS, SEVERITIES, RuleVerdict
from .sides import Change, ChangeWitness, Sides, shown_by

ALWAYS_TRIED = ("minus_infinity", "plus_infinity", "nan", "signed_zero")  # checks of inputs that every plan has
JUDGED_BY_POLICY = ("minus_infinity", "plus_infinity")
_POLICY = re.compile(r"--policy[ =](\w+)")


def conditions(sides: Sides) -> Iterator[Change]:
    old, new = sides.old, sides.new
    if not sides.same_inputs:
        before, after = (_inputs(record) for record in (old, new))
        why = f"other inputs: {before} -> {after}"
        if before == after:
            why = f"inputs that are not known to be the same: {after}"
        if not sides.same_calls:
            why = (
                "calls beside those of the plan that the other run did not make: it was timed, or had another --length"
            )
        text = f"{why}; equal numbers do not say that the results are the same"
        yield Change(what="conditions", where="inputs", verdict="unknown", old=before, new=after, text=text)
    policies = [(_POLICY.search(record.repeat) or ["", "limit"])[1] for record in (old, new)]
    if policies[0] != policies[1]:
        text = f"judged by another policy at -inf: {policies[0]} -> {policies[1]}"
        yield Change(what="conditions", where="policy", verdict="unknown", old=policies[0], new=policies[1], text=text)


def _inputs(record: Record) -> str:
    where = f", --bits {' '.join(record.ranges)}" if record.ranges else ""
    more = f" and {record.coverage.buckets:,} buckets" if record.coverage and record.coverage.buckets else ""
    return f"{record.n:,} of plan {record.plan}, seed {record.seed}{more}{where}"


def checks(sides: Sides) -> Iterator[Change]:
    if (sides.old.failure and not sides.old.checks) or (sides.new.failure and not sides.new.checks):
        return  # `failure` says so
    for name in dict.fromkeys([*sides.new.checks, *sides.old.checks]):
        yield from _check(sides, name)


def limits(sides: Sides) -> Iterator[Change]:
    """Of a budget, which lists what may fail: only what is asked now, and only told where the row is older than it."""
    for name in sides.new.checks:
        for change in _check(sides, name):
            if "fail" in (change.old, change.new):
                yield replace(change, verdict="neither") if name in sides.lacking else change


def _check(sides: Sides, name: str) -> Iterator[Change]:
    old = sides.old.checks.get(name, "pass" if sides.old_lists_failures else None)
    new = sides.new.checks.get(name, "pass" if sides.new_lists_failures else None)
    found = [record.findings.get(name) for record in (sides.old, sides.new)]
    before, after = (finding.severity if finding else None for finding in found)
    if old == new != "fail" or {old, new} == {None, "not applicable"} or _is_untold(sides, old, new):
        return
    if (
        name in JUDGED_BY_POLICY
        and not sides.old_lists_failures
        and {old, new} == {"pass", "fail"}
        and _is_same_value(*found)
    ):
        return  # another policy, which `conditions` tells
    verdict: RuleVerdict
    if new == "fail":
        how, verdict = _newly_failing(old, before, after)
    elif old == "fail":
        how, verdict = f"failed, and is {_status_text(new)} now", "unknown" if new is None else "better"
    else:
        how = f"was {_status_text(old)} and is {_status_text(new)} now"
        verdict = "unknown" if new is None else "neither"
    if not how:
        if None in found or found[0] == found[1]:
            return
        how, verdict = _otherwise(sides, name, *found)
        if not how:
            return
    if sides.tolerance == "headroom" and name in LAST_BIT_CHECKS:
        verdict = "neither"
    if name in BY_CALL and sides.by_chance:
        verdict = "neither"
    if name not in ALWAYS_TRIED:
        verdict = sides.as_tried(verdict) or "unknown"
    detail = next((finding.detail for finding in (found[1], found[0]) if finding and finding.detail), "")
    severity = f" ({after or before})" if "fail" in (old, new) and (after or before) else ""
    yield Change(
        what="check", where=name, verdict=verdict, old=old, new=new,
        text=f"check {name}{severity} {how}" + (f": {detail}" if detail else ""),
        witness=_of_findings(found[0], found[1], verdict),
    )  # fmt: skip


def _is_same_value(old: FindingRecord | None, new: FindingRecord | None) -> bool:
    return old is not None and new is not None and old.got_bits == new.got_bits


def _is_untold(sides: Sides, old: str | None, new: str | None) -> bool:
    """Whether a check is missing only because a condensed run has no others than those that failed."""
    each = (old, new, sides.old), (new, old, sides.new)
    return any(own is None and other != "fail" and not record.findings for own, other, record in each)


def _status_text(status: str | None) -> str:
    return {"pass": "passed", None: "not asked"}.get(status, status or "")


def _newly_failing(old: str | None, before: Severity | None, after: Severity | None) -> tuple[str, RuleVerdict]:
    """Of a check that fails now: how to say it, and whether that is worse; no text where it failed before, too."""
    if old is None:
        return "fails, and was not asked before", "unknown"
    if old != "fail":
        return "newly fails", "worse"
    if before != after and before is not None and after is not None:
        is_worse = SEVERITIES.index(after) < SEVERITIES.index(before)
        return f"fails as a {after}, and as a {before} before", "worse" if is_worse else "better"
    return "", "neither"


def _otherwise(
    sides: Sides, name: str, old: FindingRecord | None, new: FindingRecord | None
) -> tuple[str, RuleVerdict]:
    """Of a check that fails in both: a wrong value at -inf, +inf, NaN or -0 may be farther from the right one, and a
    number is worse than NaN, which shows itself; no text where the value is the same."""
    if name not in ALWAYS_TRIED or not (old and new and old.got_bits and new.got_bits):
        return "" if sides.old_lists_failures else "fails otherwise", "neither"
    fmt = get_format(sides.new.dtype)
    bits = [int(each.got_bits or "", 16) for each in (old, new)]
    before, after = ("NaN" if fmt.is_nan(each) else value_text(fmt, each) for each in bits)
    if before == after:
        return "", "neither"
    ranks = [_distance(fmt, each, int(new.want_bits or old.want_bits or "0", 16)) for each in bits]
    verdict: RuleVerdict = "neither" if ranks[0] == ranks[1] else "worse" if ranks[1] > ranks[0] else "better"
    return f"gives {after}, and gave {before} before", verdict


def _distance(fmt: Format, got: int, want: int) -> int:
    """How far a wrong value is from the right one, counted in floats; NaN is nearest, and all are as far from NaN."""
    if fmt.is_nan(got) or fmt.is_nan(want):
        return -1
    return abs(fmt.ordinal(got) - fmt.ordinal(want))


def _of_findings(old: FindingRecord | None, new: FindingRecord | None, verdict: RuleVerdict) -> ChangeWitness | None:
    return shown_by(old, new, "better" if verdict == "better" else "worse")
