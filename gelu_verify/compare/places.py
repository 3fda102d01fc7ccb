"""Changes by place: regions and intervals of x, buckets, and the bits of results."""

from __future__ import annotations

from collections.abc import Iterator

from ..functions.regions import INTERVALS
from .comparison import Change, inputs_that_differ
from .kept import IntervalChange, Shown, is_special
from .pair import Pair, error_direction, number_change, number_text, shown_by
from .worse import Direction, less_is_worse


def regions(pair: Pair) -> Iterator[Change]:
    before = {part.region: part for part in pair.old.regions or ()}
    for part in pair.new.regions or ():
        old = before.get(part.region)
        if old is not None:
            direction = error_direction(pair, old.max_ulp, part.max_ulp)
            shown = shown_by(old.witness, part.witness, direction)
            yield from number_change(
                "region", direction, (old.max_ulp, part.max_ulp), unit="ULP", where=part.region, witness=shown
            )


def intervals(pair: Pair) -> Iterator[Change]:
    before, after = ({part.interval: part for part in r.intervals or ()} for r in (pair.old, pair.new))
    kept = {each.interval: each for each in (pair.kept.intervals if pair.kept else ())}
    for name in INTERVALS:
        old, new, buckets = before.get(name), after.get(name), kept.get(name)
        found: dict[Direction, list[str]] = {"worse": [], "better": []}
        if old is not None and new is not None:
            direction = error_direction(pair, old.max_ulp, new.max_ulp)
            if direction in found:
                found[direction].append(f"largest error {number_text(old.max_ulp)} -> {number_text(new.max_ulp)} ULP")
            for kind, title in (("correct", "correctly rounded"), ("faithful", "faithful")) if pair.same_inputs else ():
                counts = getattr(old, kind), getattr(new, kind)
                if (direction := less_is_worse(*counts)) is not None:
                    found[direction].append(
                        f"{abs(counts[1] - counts[0]):,} {'fewer' if direction == 'worse' else 'more'} {title}"
                    )
        yield from _interval_changes(name, found, buckets, [part.max_ulp if part else None for part in (old, new)])


def _interval_changes(
    name: str, found: dict[Direction, list[str]], buckets: IntervalChange | None, errors: list[float | None]
) -> Iterator[Change]:
    counted = {"worse": buckets.worse, "better": buckets.better} if buckets else {}
    for direction, texts in found.items():
        count = counted.get(direction, 0)
        if not (texts or count):
            continue
        shown = Shown() if not buckets else buckets.worst if direction == "worse" else buckets.best
        texts = [
            *texts,
            *([f"{direction} in {count:,} of {buckets.differ:,} buckets that differ"] if count and buckets else []),
        ]
        at = f" (--bits {shown.span})" if shown.span and shown.witness is None else ""
        yield Change(
            what="special" if is_special(name) else "interval", where=name, direction=direction,
            old=number_text(errors[0]), new=number_text(errors[1]), old_number=errors[0], new_number=errors[1],
            text=f"{name}: {', '.join(texts)}{at}", witness=shown.witness,
        )  # fmt: skip


def bits(pair: Pair) -> Iterator[Change]:
    """Other results, told in one line."""
    kept = pair.kept
    if kept is not None and kept.left_out and pair.same_inputs:
        text = f"bits: {kept.left_out:,} buckets do not have the same inputs in both runs, although all are said to be"
        yield Change(what="bits", direction="unknown", old=None, new=None, text=text)
    if kept is None or kept.bits is None:
        yield from _digests(pair)
        return
    bits = kept.bits
    if not bits.differ:
        return
    count = inputs_that_differ(bits)
    text = f"bits: other results at {count} of {bits.inputs:,} inputs, in {bits.differ:,} of {bits.compared:,} buckets"
    witness = next((each.any.witness for each in kept.intervals if each.any.witness), None)
    yield Change(what="bits", direction="neither", old=None, new=None, text=text, witness=witness)


def _digests(pair: Pair) -> Iterator[Change]:
    """Whether all results are the same, where no buckets say which."""
    old, new = pair.old.bits_sha256, pair.new.bits_sha256
    if pair.old.failure is not None and pair.new.failure is not None and old is new is None:
        return  # `failure` says so
    if old is None or new is None:
        text = "bits: no digests of all results were kept, so results that differ in their last bits are not seen"
        yield Change(what="bits", direction="unknown", old=old, new=new, text=text)
    elif pair.same_inputs and old != new:
        text = "bits: some results differ; which ones was not kept"
        yield Change(what="bits", direction="neither", old=old, new=new, text=text)
