"""Two runs compared: results matched by target, function and dtype, each pair with its changes and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from ..errors import MissingMeasurement, ResultsError
from ..isa import split_level
from ..judge.changes import Verdict, changes, verdict_of
from ..judge.rules import RULES, Tolerance
from ..judge.sentences import leading, sentence, small_losses
from ..judge.sides import Change, Sides, have_same_inputs, number_text
from ..measure.jobs import CORRECTLY_ROUNDED, OWN
from ..records.ranking import worst_first
from ..records.result import Record
from ..runs.store import Run
from .comparison import Comparison, ResultComparison, Speed
from .conditions import described, differences
from .kept import compare_kept
from .tried_by_both import tried_by_both

SIDE = ("grade", "grade_bound", "max_ulp", "bound", "version")  # what is said of the old result, and of the new one
ORDER: tuple[Verdict, ...] = ("worse", "mixed", "vanished", "unknown", "changed", "better", "appeared", "same")


def compare_runs(
    old: Run, new: Run, *, names: tuple[str | None, str | None] = (None, None), targets: tuple[str, ...] = ()
) -> Comparison:
    """What changed from `old` to `new`; runs must be `verified`.

    Parameters
    ----------
    names : what the runs are called, where that is not their folders
    targets : only results of these: FAMILY or FAMILY.PATH, or what was typed

    Raises
    ------
    MissingMeasurement : the runs have no result in common
    ResultsError : one has a result twice
    """
    indices = [_indices(run, targets) for run in (old, new)]
    common = [key for key in indices[1] if key in indices[0]]
    if not _are_enough(old, new, indices, common):
        held = [", ".join(sorted({key.rsplit("/", 2)[0] for key in each})[:4]) or "nothing" for each in indices]
        raise MissingMeasurement(
            f"nothing to compare: no target, function and dtype is in both runs ({held[0]}; {held[1]})"
        )
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda key: compared((old, indices[0][key]), (new, indices[1][key])), common))
    found += [alone(old.results[at], "vanished") for key, at in indices[0].items() if key not in indices[1]]
    found += [alone(new.results[at], "appeared") for key, at in indices[1].items() if key not in indices[0]]
    return Comparison(
        described(old, names[0]), described(new, names[1]), differences(old, new), _sorted(found, old, new)
    )


def decisive(found: Comparison, fail_on: str | None) -> tuple[list[ResultComparison], list[ResultComparison]]:
    """The results that are over the limit, and those of which that is not known.

    `fail_on`: "worse", or "change", which is whatever differs. What vanished is not known to be no worse. What was
    timed in turns is over the limit where it is slower, and not known where it could not be timed.
    """
    over = [each for each in found.results if is_over(each, fail_on) or each.is_slower]
    missing: dict[str | None, tuple[Verdict, ...]] = {"worse": ("vanished", "unknown"), "change": ("unknown",)}
    unknown = (e for e in found.results if e.verdict in missing.get(fail_on, ()) or e.in_turns == ())
    return over, [each for each in unknown if each not in over]


def is_over(result: ResultComparison, fail_on: str | None) -> bool:
    """Whether its results are over the limit."""
    if fail_on == "change":
        return result.verdict not in ("same", "unknown")
    return fail_on == "worse" and result.verdict in ("worse", "mixed")


def _indices(run: Run, targets: tuple[str, ...]) -> dict[str, int]:
    """Where each result is."""
    found: dict[str, int] = {}
    for index, record in enumerate(run.results):
        if record.key in found:
            raise ResultsError(f"{run.path} cannot be compared: {record.key} is there twice")
        if not targets or not {record.target, split_level(record.target)[0], record.family}.isdisjoint(targets):
            found[record.key] = index
    return found


def _are_enough(old: Run, new: Run, indices: list[dict[str, int]], common: list[str]) -> bool:
    """Whether something is in both runs, but for our correctly rounded kernels, which are measured beside all else."""
    every = [run.results[at] for run, each in zip((old, new), indices, strict=True) for at in each.values()]
    asked = {each.key for each in every if not (each.family == OWN and each.target.endswith(CORRECTLY_ROUNDED))}
    return bool(common) and (not asked or not asked.isdisjoint(common))


def compared(old: tuple[Run, int], new: tuple[Run, int]) -> ResultComparison:
    """Two results of one target, function and dtype, each by its run and its place there."""
    (a, b), runs = (run.results[index] for run, index in (old, new)), (old[0], new[0])
    same_inputs = have_same_inputs(a, b)
    shared = None if same_inputs else tried_by_both(old, new)
    if shared:
        a, b = shared.old, shared.new
    by_chance = all(_gave_others(record) for record in (a, b))
    of_one_second = _second(a) == _second(b)
    kept = None
    if of_one_second and not by_chance:
        kept = compare_kept(old, new, shared is not None or same_inputs, shared.buckets if shared else None)
    if by_chance:
        a, b = replace(a, intervals=None), replace(b, intervals=None)
    if not of_one_second:
        a, b = _of_all_pairs(a), _of_all_pairs(b)
    old_lists, new_lists = (_lists_failures_only(run) and _have_one_source(*runs) for run in runs)
    tolerance: Tolerance = "headroom" if by_chance else "known"  # what it gives in the next run may be as much worse
    sides = Sides(
        a, b, kept, old_lists, new_lists, comparable=shared is not None, tolerance=tolerance, by_chance=by_chance
    )
    found = of_sides(sides, shared.certain if shared else ())
    return replace(found, same_inputs=same_inputs, both_tried=shared.share if shared else None)


def _gave_others(record: Record) -> bool:
    """Whether equal calls gave other outputs."""
    return "repeatable" in record.failed_checks or record.failure_kind == "nondeterministic"


def _second(record: Record) -> str | None:
    """The value of the second input with which it is worst: all that is kept of a result is of that."""
    return record.second.value_bits if record.second else None


def _of_all_pairs(record: Record) -> Record:
    """A result without what is of one value of its second input, where another result is of another."""
    second = record.second
    if second is None:
        return record
    known = {"grade", "correctly_rounded", "faithful"}
    lacking = record.lacking | ({rule.key for rule in RULES.values() if rule.key} - known)
    return replace(
        record, correctly_rounded=second.correctly_rounded, faithful=second.faithful, intervals=None, lacking=lacking
    )


def of_sides(sides: Sides, certain: Iterable[Change] = ()) -> ResultComparison:
    """What two results are beside each other; `certain`: changes that are known from elsewhere."""
    a, b = sides.old, sides.new
    found = changes(sides, certain)
    verdict = verdict_of(found)
    lead = leading([each for each in found if each.verdict == "worse"]) if verdict in ("worse", "mixed") else None
    found = [*([lead] if lead else []), *(each for each in found if each is not lead)]
    return ResultComparison(
        target=b.target, family=b.family, function=b.function, dtype=b.dtype, verdict=verdict,
        **_side("old", a), **_side("new", b), same_inputs=sides.same_inputs,
        bits=sides.kept.bits if sides.kept else None, sentence=_sentence(verdict, found, b), changes=tuple(found),
        speed=_speed(a, b), repeat=b.repeat,
    )  # fmt: skip


def _sentence(verdict: Verdict, found: Sequence[Change], new: Record) -> str | None:
    """What is worse and what is better, where that decides; else the first change."""
    worse, better = ([each for each in found if each.verdict == which] for which in ("worse", "better"))
    gain = next((each for each in better if each.what == "max_ulp"), None) or leading(better)
    if verdict == "better" and gain is not None:
        losses = small_losses(found)
        return f"{gain.text}; {losses}" if losses else gain.text
    if verdict in ("worse", "mixed"):
        lost = sentence(worse, new, "had", _before, lambda each: each.text)
        return f"{lost}; better: {gain.text}" if verdict == "mixed" and gain is not None else lost
    return found[0].text if found else None


def _before(change: Change) -> tuple[float | None, str]:
    return change.old_number, f"{number_text(change.old_number)} before"


def _side(side: str, record: Record) -> dict[str, Any]:
    """What a comparison says of one of its results."""
    return {f"{side}_{name}": getattr(record, name) for name in SIDE}


def _lists_failures_only(run: Run) -> bool:
    """Whether `checks` of a result are those that failed."""
    return bool((run.manifest.get("recorded") or {}).get("condensed"))


def _have_one_source(old: Run, new: Run) -> bool:
    """Whether the same gelu-verify measured both, and so asked the same checks."""
    states = [run.manifest.get("git") for run in (old, new)]
    return states[0] is not None and states[0] == states[1] and not states[0].get("dirty")


def alone(record: Record, verdict: Verdict) -> ResultComparison:
    """A result that the other side does not have."""
    values = _side("old" if verdict == "vanished" else "new", record)
    return ResultComparison(
        target=record.target, family=record.family, function=record.function, dtype=record.dtype, verdict=verdict,
        repeat=record.repeat, **values,
    )  # fmt: skip


def _sorted(found: list[ResultComparison], old: Run, new: Run) -> tuple[ResultComparison, ...]:
    """By verdict, and within one the worst result first."""
    by_key = {record.key: record for run in (old, new) for record in run.results}
    place = {record.key: at for at, record in enumerate(worst_first(by_key.values()))}
    return tuple(sorted(found, key=lambda each: (ORDER.index(each.verdict), place[each.key])))


def _speed(old: Record, new: Record) -> Speed | None:
    a, b = old.throughput, new.throughput
    if a is None or b is None or not a.elements_per_s:
        return None
    ratio, noise = b.elements_per_s / a.elements_per_s, a.spread + b.spread
    size = f"{abs(ratio - 1):.0%} {'faster' if ratio > 1 else 'slower'}"
    is_clear = max(ratio, 1 / ratio) - 1 > noise if ratio else True  # the same whichever of them is the old one
    text = size if is_clear else f"{size}, which is within the spread"
    return Speed(a.elements_per_s, a.spread, b.elements_per_s, b.spread, text)
