"""Changes of a whole result: failure, grade, largest error, tail, accurate range, shares, and what is only told."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import get_format
from ..records.claims import grade_text, range_text
from ..records.grades import ORDER
from ..records.parts import AccurateRange
from ..records.result import Record
from .comparison import Change, ChangeWitness
from .pair import Pair, as_tried, error_direction, number_change, shown_by
from .worse import COARSE, RULES, Direction, larger_is_worse, less_is_worse, more_is_worse

FAILURES = ("failure_kind", "failure")


def failures(pair: Pair) -> Iterator[Change]:
    old, new = pair.old, pair.new
    if old.failure is None and new.failure is None:
        return
    direction: Direction = "worse" if old.failure is None else "better" if new.failure is None else "neither"
    if not (old.has_failed or new.has_failed):
        direction = "neither"  # by a fault of gelu-verify, it is not known
    if direction == "neither":
        if pair.is_measured and all(getattr(old, name) == getattr(new, name) for name in FAILURES):
            return
        direction = "neither" if pair.is_measured else "unknown"
    how = "failed in both runs" if old.failure and new.failure else "fails" if new.failure else "no longer fails"
    line = new.failure or old.failure
    yield Change(what="failure", direction=direction, old=old.failure, new=new.failure, text=f"{how}: {line}")


def grades(pair: Pair) -> Iterator[Change]:
    old, new = pair.old.grade, pair.new.grade
    if old == new or "grade" in pair.old.lacking | pair.new.lacking:
        return
    direction: Direction = "unknown"
    if old is not None and new is not None:
        direction = as_tried(pair, "worse" if ORDER[new] > ORDER[old] else "better") or direction
    titles = [grade_text(r.grade, r.grade_bound) if r.grade else None for r in (pair.old, pair.new)]
    text = f"grade: {titles[0] or 'none'} -> {titles[1] or 'none'}"
    yield Change(what="grade", direction=direction, old=old, new=new, text=text)


def nonfinite(pair: Pair) -> Iterator[Change]:
    counts = [record.nonfinite.count if record.nonfinite else None for record in (pair.old, pair.new)]
    direction = more_is_worse(*counts) if pair.same_inputs else None
    nearest = pair.new.nonfinite if direction == "worse" else pair.old.nonfinite
    shown = ChangeWitness(nearest.x_bits, None, None, None) if nearest and nearest.x_bits else None
    yield from number_change("nonfinite", direction, counts, unit="inputs", witness=shown)


def largest(pair: Pair) -> Iterator[Change]:
    old, new = pair.old, pair.new
    if old.max_ulp is None and new.max_ulp is None:
        return
    direction = error_direction(pair, old.max_ulp, new.max_ulp)
    shown = shown_by(old.witness, new.witness, direction)
    yield from number_change("max_ulp", direction, (old.max_ulp, new.max_ulp), unit="ULP", witness=shown)


def tail(pair: Pair) -> Iterator[Change]:
    old, new = pair.old.zero_from, pair.new.zero_from
    if not pair.same_inputs or (old and old.x_bits) == (new and new.x_bits):
        return
    direction: Direction = "worse" if new and (old is None or new.x > old.x) else "better"
    numbers = [each.x if each else None for each in (old, new)]
    nearer = new if direction == "worse" else old
    shown = ChangeWitness(nearer.x_bits, None, None, None) if nearer else None
    yield from number_change("zero_from", direction, numbers, witness=shown)


def accurate_range(pair: Pair) -> Iterator[Change]:
    old, new = pair.old.accurate_range, pair.new.accurate_range
    if _ends(old) == _ends(new) or "accurate_range" in pair.old.lacking | pair.new.lacking or not pair.same_inputs:
        return
    texts = [range_text(r.dtype, r.accurate_range, r.bound) or None for r in (pair.old, pair.new)]
    ends = [_ends(each) or (0.0, 0.0) for each in (old, new)]
    narrower = ends[1][0] > ends[0][0] or ends[1][1] < ends[0][1] or new is None
    wider = ends[1][0] < ends[0][0] or ends[1][1] > ends[0][1] or old is None
    found: dict[Direction, bool] = {"worse": narrower, "better": wider}
    for direction in (each for each, holds in found.items() if holds):
        text = f"accurate for: {texts[0] or 'nothing'} -> {texts[1] or 'nothing'}"
        yield Change(what="accurate_range", direction=direction, old=texts[0], new=texts[1], text=text)


def _ends(found: AccurateRange | None) -> tuple[float, float] | None:
    return (found.low, found.high) if found else None


def shares(pair: Pair) -> Iterator[Change]:
    if not pair.same_inputs:
        return
    for name in ("correctly_rounded", "faithful"):
        old, new = getattr(pair.old, name), getattr(pair.new, name)
        text = f"{RULES[name].title}: {_share(pair.old, old)} -> {_share(pair.new, new)}"
        yield from number_change(name, less_is_worse(old, new), (old, new), text=text)


def _share(record: Record, share: float | None) -> str:
    return "-" if share is None else f"{round(share * record.n):,} of {record.n:,}"


def others(pair: Pair) -> Iterator[Change]:
    old, new = pair.old, pair.new
    if not pair.same_inputs:
        return
    percentiles = old.p99_ulp, new.p99_ulp
    yield from number_change("p99_ulp", error_direction(pair, *percentiles), percentiles, unit="ULP")
    pairs = [each.max_abs_error for each in (old, new)]
    errors = [each.error if each else None for each in pairs]
    kept = 2.0**-20 if get_format(old.dtype).width <= 16 else COARSE
    direction = larger_is_worse(*errors, known_to=0.0, relative=kept)
    if direction is not None and not {"max_abs_error"} & (old.lacking | new.lacking):
        worst = pairs[0] if direction == "better" else pairs[1]
        shown = ChangeWitness(worst.x_bits, None, None, None) if worst else None
        yield from number_change("max_abs_error", direction, errors, witness=shown)
    bits = [each.mean_bits.plan if each.mean_bits else None for each in (old, new)]
    if not {"mean_bits"} & (old.lacking | new.lacking):
        yield from number_change("mean_bits", less_is_worse(*bits), bits)


def told(pair: Pair) -> Iterator[Change]:
    """What is neither better nor worse by itself."""
    old, new = pair.old, pair.new
    named = {"variant": ("variant",), "precision": ("computes_in", "rounding", "rounding_mode"), "flush": ("flush",)}
    for what, names in named.items():
        for name in names:
            if name in old.lacking | new.lacking:
                continue
            values = [getattr(each, name) for each in (old, new)]
            before, after = (getattr(v, "flushed", v) for v in values)
            if before != after:
                text = f"{name.replace('_', ' ')}: {before or 'none'} -> {after or 'none'}"
                yield Change(what=what, where=name, direction="neither", old=before, new=after, text=text)
    if (old.dispatch and old.dispatch.seen) != (new.dispatch and new.dispatch.seen):
        seen = [", ".join(f"{k} {v}" for k, v in ((r.dispatch and r.dispatch.seen) or {}).items()) for r in (old, new)]
        text = f"dispatch: {seen[0] or 'not seen'} -> {seen[1] or 'not seen'}"
        yield Change(what="dispatch", direction="neither", old=seen[0] or None, new=seen[1] or None, text=text)
