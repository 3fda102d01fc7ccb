"""Changes of a whole result that are no numbers: failure, grade, accurate range, and what is only told."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import get_format
from ..records.bucket_errors import ACCURATE
from ..records.claims import grade_text, range_text
from ..records.grades import ORDER
from ..records.parts import AccurateRange
from ..records.result import Record
from .rules import RuleVerdict
from .sides import Change, Sides, shown_by

FAILURES = ("failure_kind", "failure")


def failures(sides: Sides) -> Iterator[Change]:
    old, new = sides.old, sides.new
    if old.failure is None and new.failure is None:
        return
    verdict: RuleVerdict = "worse" if old.failure is None else "better" if new.failure is None else "neither"
    if not (old.has_failed or new.has_failed):
        verdict = "neither"  # by a fault of gelu-verify, it is not known
    if verdict == "neither":
        if sides.is_measured and all(getattr(old, name) == getattr(new, name) for name in FAILURES):
            return
        verdict = "neither" if sides.is_measured else "unknown"
    how = "failed in both runs" if old.failure and new.failure else "fails" if new.failure else "no longer fails"
    line = new.failure or old.failure
    yield Change(what="failure", verdict=verdict, old=old.failure, new=new.failure, text=f"{how}: {line}")


def grades(sides: Sides) -> Iterator[Change]:
    old, new = sides.old.grade, sides.new.grade
    if old == new or "grade" in sides.lacking:
        return
    verdict: RuleVerdict = "unknown"
    if old is not None and new is not None:
        verdict = sides.as_tried("worse" if ORDER[new] > ORDER[old] else "better") or verdict
    if sides.tolerance == "headroom" and new != "broken":
        verdict = "neither"  # a last bit may decide between two grades
    titles = [grade_text(r.grade, r.grade_bound) if r.grade else None for r in (sides.old, sides.new)]
    text = f"grade: {titles[0] or 'none'} -> {titles[1] or 'none'}"
    yield Change(what="grade", verdict=verdict, old=old, new=new, text=text)


def accurate_range(sides: Sides) -> Iterator[Change]:
    old, new = sides.old.accurate_range, sides.new.accurate_range
    if _ends(old) == _ends(new) or "accurate_range" in sides.lacking or not sides.same_inputs:
        return
    if sides.tolerance == "headroom":
        return  # a last bit may decide where it ends
    texts = [range_text(r.dtype, r.accurate_range, r.bound) or None for r in (sides.old, sides.new)]
    ends = [_ends(each) or (0.0, 0.0) for each in (old, new)]
    narrower = ends[1][0] > ends[0][0] or ends[1][1] < ends[0][1] or new is None
    wider = ends[1][0] < ends[0][0] or ends[1][1] > ends[0][1] or old is None
    found: dict[RuleVerdict, bool] = {"worse": narrower, "better": wider}
    for verdict in (each for each, holds in found.items() if holds):
        text = f"accurate for: {texts[0] or 'nothing'} -> {texts[1] or 'nothing'}"
        of_old, of_new = _between(sides.old, old, new), _between(sides.new, new, old)
        yield Change(
            what="accurate_range", verdict=verdict, old=texts[0], new=texts[1], text=text,
            witness=shown_by(of_old, of_new, verdict),
        )  # fmt: skip


def _ends(found: AccurateRange | None) -> tuple[float, float] | None:
    return (found.low, found.high) if found else None


def _between(record: Record, own: AccurateRange | None, other: AccurateRange | None) -> object:
    """Of the inputs that the record names for their errors, the one nearest to zero that is outside of its own range,
    and inside of the other; None where none is."""
    fmt = get_format(record.dtype)
    largest = [(record.max_ulp, record.witness), *((each.max_ulp, each) for each in record.intervals or ())]
    named = [record.findings.get("finite"), *(shown for ulp, shown in largest if ulp is not None and ulp > ACCURATE)]

    def is_in(found: AccurateRange | None, x: str) -> bool:
        ends = (found.low_bits, found.high_bits) if found else ()
        low, high = (fmt.ordinal(int(end, 16)) for end in ends) if ends else (0, -1)
        return low <= fmt.ordinal(int(x, 16)) <= high

    shown = (each for each in named if each and each.x_bits and is_in(other, each.x_bits))
    outside = (each for each in shown if not is_in(own, each.x_bits or ""))
    return min(outside, key=lambda each: fmt.magnitude(int(each.x_bits or "", 16)), default=None)


def told(sides: Sides) -> Iterator[Change]:
    """What is neither better nor worse by itself."""
    old, new = sides.old, sides.new
    named = {"variant": ("variant",), "precision": ("computes_in", "rounding", "rounding_mode"), "flush": ("flush",)}
    for what, names in named.items():
        for name in names:
            if name in sides.lacking:
                continue
            values = [getattr(each, name) for each in (old, new)]
            before, after = (getattr(v, "flushed", v) for v in values)
            if before != after:
                text = f"{name.replace('_', ' ')}: {before or 'none'} -> {after or 'none'}"
                yield Change(what=what, where=name, verdict="neither", old=before, new=after, text=text)
    if (old.dispatch and old.dispatch.seen) != (new.dispatch and new.dispatch.seen):
        seen = [", ".join(f"{k} {v}" for k, v in ((r.dispatch and r.dispatch.seen) or {}).items()) for r in (old, new)]
        text = f"dispatch: {seen[0] or 'not seen'} -> {seen[1] or 'not seen'}"
        yield Change(what="dispatch", verdict="neither", old=seen[0] or None, new=seen[1] or None, text=text)
