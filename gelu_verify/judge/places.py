"""Changes by place: intervals of x, their buckets, and the bits of results."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..functions.regions import INFINITE, INTERVALS
from .rules import RULES, SMALL, RuleVerdict, less_is_worse
from .sides import Change, IntervalChange, Shown, Sides, inputs_that_differ, number_text


def intervals(sides: Sides) -> Iterator[Change]:
    measure = RULES["interval"].measure
    assert measure is not None
    before, after = ({part.interval: part for part in r.intervals or ()} for r in (sides.old, sides.new))
    kept = {each.interval: each for each in (sides.kept.intervals if sides.kept else ())}
    for name in INTERVALS:
        old, new, buckets = before.get(name), after.get(name), kept.get(name)
        found: dict[RuleVerdict, list[str]] = {"worse": [], "better": []}
        largest: RuleVerdict | None = None
        if old is not None and new is not None:
            largest = sides.verdict(measure, old.max_ulp, new.max_ulp)
            if largest in found:
                found[largest].append(f"largest error {number_text(old.max_ulp)} -> {number_text(new.max_ulp)} ULP")
            for kind, title in (
                (("correct", "correctly rounded"), ("faithful", "faithful")) if sides.same_inputs else ()
            ):
                counts = getattr(old, kind), getattr(new, kind)
                if (verdict := less_is_worse(*counts)) is not None:
                    found[verdict].append(
                        f"{abs(counts[1] - counts[0]):,} {'fewer' if verdict == 'worse' else 'more'} {title}"
                    )
        errors = [part.max_ulp if part else None for part in (old, new)]
        is_whole = old is not None and new is not None and sides.kept is not None and not sides.kept.left_out
        small = [*_small(name, buckets, largest)] if is_whole else []
        yield from _interval_changes(name, found, buckets, errors, small)


def _small(name: str, buckets: IntervalChange | None, largest: RuleVerdict | None) -> Iterator[RuleVerdict]:
    """Which changes are small: no bucket of the interval clearly is, and its largest error is not."""
    if buckets is None or name in INFINITE:
        return
    clearly: dict[RuleVerdict, int] = {"worse": buckets.clearly_worse, "better": buckets.clearly_better}
    for verdict, count in clearly.items():
        if not count and largest != verdict:
            yield verdict


def _interval_changes(
    name: str,
    found: dict[RuleVerdict, list[str]],
    buckets: IntervalChange | None,
    errors: list[float | None],
    small: Collection[RuleVerdict],
) -> Iterator[Change]:
    counted = {"worse": buckets.worse, "better": buckets.better} if buckets else {}
    for verdict, texts in found.items():
        count = counted.get(verdict, 0)
        if not (texts or count):
            continue
        shown = Shown() if not buckets else buckets.worst if verdict == "worse" else buckets.best
        texts = [
            *texts,
            *([f"{verdict} in {count:,} of {buckets.differ:,} buckets that differ"] if count and buckets else []),
            *([f"by less than {SMALL:g} ULP"] if verdict in small else []),
        ]
        at = f" (--bits {shown.span})" if shown.span and shown.witness is None else ""
        yield Change(
            what="special" if name in INFINITE else "interval", where=name, verdict=verdict,
            old=number_text(errors[0]), new=number_text(errors[1]), old_number=errors[0], new_number=errors[1],
            text=f"{name}: {', '.join(texts)}{at}", is_small=verdict in small, witness=shown.witness,
        )  # fmt: skip


def bits(sides: Sides) -> Iterator[Change]:
    """Other results, told in one line."""
    kept = sides.kept
    if kept is not None and kept.left_out and sides.same_inputs:
        text = f"bits: {kept.left_out:,} buckets do not have the same inputs in both runs, although all are said to be"
        yield Change(what="bits", verdict="unknown", old=None, new=None, text=text)
    if kept is None or kept.bits is None:
        yield from _digests(sides)
        return
    bits = kept.bits
    if not bits.differ:
        return
    count = inputs_that_differ(bits)
    text = f"bits: other results at {count} of {bits.inputs:,} inputs, in {bits.differ:,} of {bits.compared:,} buckets"
    witness = next((each.any.witness for each in kept.intervals if each.any.witness), None)
    yield Change(what="bits", verdict="neither", old=None, new=None, text=text, witness=witness)


def _digests(sides: Sides) -> Iterator[Change]:
    """Whether all results are the same, where no buckets say which."""
    old, new = sides.old.outputs_sha256, sides.new.outputs_sha256
    if sides.old.failure is not None and sides.new.failure is not None and old is new is None:
        return  # `failure` says so
    if old is None or new is None:
        text = "bits: no digests of all results were kept, so results that differ in their last bits are not seen"
        yield Change(what="bits", verdict="unknown", old=old, new=new, text=text)
    elif sides.same_inputs and old != new:
        text = "bits: some results differ; which ones was not kept"
        yield Change(what="bits", verdict="neither", old=old, new=new, text=text)
