"""A comparison in words: what every form of it says, on a terminal, in Markdown and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from ..compare.comparison import ComparedRun, Comparison, Difference, ResultComparison
from ..compare.runs import ORDER
from ..compare.trend import TrendSeries
from ..functions.regions import region_of
from ..judge.changes import Verdict
from ..judge.sides import Bits, Change, ChangeWitness, inputs_that_differ, number_text
from ..records.claims import grade_text
from .text import rate_text, value_text

Side = Literal["old", "new"]
FROM_TO = " -> "
SIDES: tuple[Side, ...] = ("old", "new")

WORDS: dict[Verdict, str] = {
    "worse": "WORSE", "mixed": "mixed", "vanished": "vanished", "unknown": "unknown", "changed": "changed",
    "better": "better", "appeared": "appeared", "same": "same",
}  # fmt: skip
LISTED: tuple[Verdict, ...] = ("vanished", "appeared", "same")  # of which only the names are listed
_IN_HEADER = ("grade", "max_ulp")  # changes that the line of the result itself tells
_COUNTED: dict[Verdict, tuple[str, str]] = {  # one, several
    "worse": ("is worse", "are worse"),
    "mixed": (
        "is worse in something and better in something else",
        "are worse in something and better in something else",
    ),
    "vanished": ("vanished", "vanished"),
    "unknown": ("cannot be judged", "cannot be judged"),
    "changed": ("has changed, neither worse nor better", "have changed, neither worse nor better"),
    "better": ("is better", "are better"),
    "appeared": ("appeared", "appeared"),
    "same": ("is the same", "are the same"),
}


def summary(found: Comparison) -> str:
    """How many results are what, the worst first."""
    parts = []
    for verdict in ORDER:
        count = len(found.of_verdict(verdict))
        if count:
            parts.append(f"{count} {_COUNTED[verdict][count > 1]}")
    total = len(found.results)
    return f"{total} result{'' if total == 1 else 's'}: {', '.join(parts)}."


def run_text(run: ComparedRun) -> str:
    """Which run it is, in a line."""
    results = f"{run.results} result{'' if run.results == 1 else 's'}"
    return f"{run.name} ({run.created}, plan {run.plan}, seed {run.seed}, {results})"


def difference_text(each: Difference) -> str:
    """One thing that the runs do not have in common."""
    return f"{each.what}: {each.old or 'none'} -> {each.new or 'none'}"


def title(result: ResultComparison) -> str:
    """What the result is of, and what changed most."""
    return f"{name_of(result)}: {result.sentence or before_and_after(result)}"


def name_of(result: ResultComparison | TrendSeries) -> str:
    """What the result, or the series of results, is of."""
    return f"{result.target} {result.function} {result.dtype}"


def before_and_after(result: ResultComparison) -> str:
    """Its grade and largest error, and on which inputs."""
    text = f"{grades_text(result)}; {errors_text(result)}"
    return f"{text} ({result.both_tried.text})" if result.both_tried else text


def grades_text(result: ResultComparison) -> str:
    """Its grade, before and after where that changed."""
    return _from_to(result, {side: _grade(result, side) for side in SIDES})


def errors_text(result: ResultComparison) -> str:
    """Its largest error, before and after where that changed: ">=188.042 -> =1.5 ULP"."""
    text = _from_to(result, {side: _error(result, side) for side in SIDES})
    return "nothing measured" if text == number_text(None) else f"{text} ULP"


def _from_to(result: ResultComparison, texts: dict[Side, str]) -> str:
    if result.verdict in ("vanished", "appeared"):
        return texts["old" if result.verdict == "vanished" else "new"]
    return texts["new"] if texts["old"] == texts["new"] else FROM_TO.join(texts.values())


def _grade(result: ResultComparison, side: Side) -> str:
    grade = getattr(result, f"{side}_grade")
    return grade_text(grade, getattr(result, f"{side}_grade_bound")) if grade else "no grade"


def _error(result: ResultComparison, side: Side) -> str:
    max_ulp = getattr(result, f"{side}_max_ulp")
    return (
        number_text(max_ulp)
        if max_ulp is None
        else f"{getattr(result, f'{side}_bound')}{number_text(max_ulp)}".replace("e+", "e")
    )


def change_lines(result: ResultComparison, change: Change) -> Iterator[str]:
    """What changed, and the input that shows it."""
    yield change.text if change.verdict != "unknown" else f"not known: {change.text}"
    if change.witness is not None:
        yield f"  {witness_text(result.dtype, change.witness)}"


def witness_text(dtype: str, witness: ChangeWitness) -> str:
    """x, what was returned before and now, and what is right, as far as that was kept."""
    parts = [f"x = {_value(dtype, witness.x_bits)}"]
    if witness.old_bits or witness.new_bits:
        parts += [f"old {_value(dtype, witness.old_bits)}", f"new {_value(dtype, witness.new_bits)}"]
    if witness.want_bits:
        parts.append(f"right {_value(dtype, witness.want_bits)}")
    return ", ".join(parts)


def _value(dtype: str, bits: str | None) -> str:
    return "not kept" if bits is None else f"{value_text(dtype, bits)} ({bits})"


def speed_text(result: ResultComparison) -> str | None:
    """How fast it was and is, where both were not timed in turns, which tells more; it decides nothing."""
    speed = result.speed
    if speed is None or result.in_turns:
        return None
    old, new = (
        f"{rate_text(rate)} (IQR {spread:.0%})"
        for rate, spread in ((speed.old, speed.old_spread), (speed.new, speed.new_spread))
    )
    return f"speed: {old} -> {new}: {speed.text}"


def in_turns_texts(result: ResultComparison) -> Iterator[str]:
    """How much longer calls take than those of the old revision, a line for each length; what is slower first."""
    if result.in_turns == ():
        yield "not timed: a call failed while it was timed"
    for each in sorted(result.in_turns or (), key=lambda each: not each.is_slower):
        ratio, least, limit = (f"{100 * share:+.1f} %" for share in (each.ratio - 1, each.least - 1, each.limit))
        yield (
            f"{'slower' if each.is_slower else 'time'}: {ratio} in calls of {each.n:,} elements, from {each.rounds} "
            f"rounds of both in turns (lower bound {least}, limit {limit})"
        )


def brief(result: ResultComparison, most: int) -> tuple[list[Change], int]:
    """The changes that say most, at least one of each verdict, and how many others there are.

    Those of an interval are left out where its region says the same.
    """
    told = [change for change in result.changes if not _is_covered(result, change)]
    by_verdict: dict[str, list[Change]] = {}
    for change in told:
        by_verdict.setdefault(change.verdict, []).append(change)
    kept = {id(changes[0]) for changes in by_verdict.values()}
    for change in told:
        if len(kept) < most:
            kept.add(id(change))
    chosen = [change for change in told if id(change) in kept]
    others = [change for change in result.changes if change.what not in _IN_HEADER]
    return chosen, len(others) - len(chosen)


def _is_covered(result: ResultComparison, change: Change) -> bool:
    """Whether another line already says it: that of the result, or that of a region."""
    if change.what in _IN_HEADER:
        return change.verdict != "unknown" and len(result.changes) > 1
    if change.what != "interval" or change.witness is None:
        return False
    inside = region_of(result.dtype, change.witness.x_bits)
    return any(o.what == "region" and o.where == inside and o.verdict == change.verdict for o in result.changes)


def names(results: Sequence[ResultComparison], most: int | None = None) -> str:
    """Their names, the dtypes of one target and function together; the first `most` of them, and how many follow."""
    found: dict[str, list[str]] = {}
    for each in results:
        found.setdefault(f"{each.target} {each.function}", []).append(each.dtype)
    texts = [f"{name} {' '.join(dtypes)}" for name, dtypes in found.items()]
    more = sum(map(len, list(found.values())[most:])) if most is not None else 0
    return ", ".join(texts[:most]) + (f" and {more} more (--details)" if more else "")


def bits_text(bits: Bits | None) -> str:
    """How many inputs have other results."""
    if bits is None:
        return "not kept"
    return f"{inputs_that_differ(bits)} of {bits.inputs or 0:,}"
