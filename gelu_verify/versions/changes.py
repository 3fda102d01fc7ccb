"""What changed from one release to another, by the rules of `compare`; and since when something has been so."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..compare.comparison import ComparedRun, Comparison, Difference, ResultComparison
from ..compare.runs import ORDER, alone, of_sides
from ..functions import regions
from ..isa import at_level
from ..judge.changes import Verdict
from ..judge.rules import RULES
from ..judge.sides import Change, Sides
from ..records import grades
from .libraries import is_own
from .store import History, KeptOutput, MeasuredRelease

_NAMED = 4  # intervals in a sentence
SLIGHT, SHARE = 1.1, 0.01  # what is told only where all is listed: times an error, and of all results
INFINITE = frozenset(regions.INFINITE)


@dataclass(frozen=True)
class PathChange:
    """What changed of one target/function/dtype at one level.

    Parameters
    ----------
    found : as `compare` has it
    intervals : of x, in which any output has other bits; empty where that was not kept
    """

    key: str
    level: str
    found: ResultComparison
    old: KeptOutput | None
    new: KeptOutput | None
    intervals: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return self.found.verdict

    @property
    def changes(self) -> tuple[Change, ...]:
        """The worst first."""
        return self.found.changes

    @property
    def is_slight(self) -> bool:
        """Whether it is another rounding here and there: no check and no grade differ, and no number by a tenth."""
        return self.old is not None and self.new is not None and all(map(_is_slight, self.changes))


def _is_slight(change: Change) -> bool:
    if change.verdict == "neither":
        return True
    rule, old, new = RULES[change.what], change.old_number, change.new_number
    if rule.measure is None or old is None or new is None or change.verdict == "unknown":
        return False
    if rule.measure.unit == "share":
        return abs(new - old) <= SHARE
    return max(old, new) <= SLIGHT * min(old, new)


def changes_between(history: History, old: MeasuredRelease, new: MeasuredRelease) -> list[PathChange]:
    """Of everything that both releases were asked for; the worst first."""
    found: list[PathChange] = []
    for key in history.keys:
        if key not in {*old.results, *old.absent} or key not in {*new.results, *new.absent}:
            continue
        levels = sorted({level for each in (old, new) for level in each.results.get(key, {})})
        found += [_change(key, each, history.output(old, key, each), history.output(new, key, each)) for each in levels]
    return sorted(found, key=_order)


def _order(change: PathChange) -> tuple[int, bool, int, float, str, str]:
    """By verdict; the library's own calls before formulas of somebody's, then by how much changed."""
    records = [output.record for output in (change.old, change.new) if output]
    ranks = [grades.ORDER[record.grade] for record in records if record.grade]
    errors = [max(record.max_ulp or 0.0, 1.0) for record in records]
    times = abs(math.log(errors[-1] / errors[0]))
    return (
        ORDER.index(change.verdict),
        not is_own(records[-1]),
        -abs(ranks[-1] - ranks[0]) if ranks else 0,
        -times,
        change.key,
        change.level,
    )


def _change(key: str, level: str, old: KeptOutput | None, new: KeptOutput | None) -> PathChange:
    if new is None:
        assert old is not None
        return PathChange(key, level, alone(old.record, "vanished"), old, None)
    if old is None:
        return PathChange(key, level, alone(new.record, "appeared"), None, new)
    sides = Sides(old.record, new.record, old_lists_failures=True, new_lists_failures=True)
    found = of_sides(sides)
    where = tuple(name for name in old.intervals if old.intervals[name] != new.intervals.get(name))
    if old.digest == new.digest:
        return PathChange(key, level, found, old, new)
    if _differ_in_bits_only(found) and INFINITE.issuperset(where):
        return PathChange(key, level, replace(found, verdict="same", changes=(), sentence=None), old, new)
    verdict: Verdict = "changed" if found.verdict == "same" else found.verdict
    found = replace(found, verdict=verdict, changes=tuple(_told(each, where) for each in found.changes))
    if verdict == "changed" and found.changes:
        found = replace(found, sentence=found.changes[0].text)
    return PathChange(key, level, found, old, new, where)


def _differ_in_bits_only(found: ResultComparison) -> bool:
    """Of infinities and NaN checks tell what they give; what remains there is the sign, and the payload, of NaN."""
    return all(each.what == "bits" for each in found.changes)


def are_same(key: str, level: str, old: KeptOutput, new: KeptOutput) -> bool:
    """Whether outputs are the same, but for the bits of NaN."""
    return old.digest == new.digest or _change(key, level, old, new).verdict == "same"


def _told(change: Change, where: Sequence[str]) -> Change:
    """With the intervals in which bits differ, which a run does not keep, and records do."""
    if change.what != "bits" or not where:
        return change
    more = f" and {len(where) - _NAMED} more intervals" if len(where) > _NAMED else ""
    return replace(change, text=f"other bits for x in {', '.join(where[:_NAMED])}{more}")


def upgrade(history: History, old: MeasuredRelease, new: MeasuredRelease, level: str = "") -> Comparison:
    """Two releases compared, at one level; "": at all that both have, of which names tell."""
    asked = [each for each in changes_between(history, old, new) if level in ("", each.level)]
    several = len({each.level for each in asked}) > 1
    results = (replace(each.found, target=at_level(each.found.target, each.level if several else "")) for each in asked)
    return Comparison(_run(history, old), _run(history, new), tuple(_differences(old, new)), tuple(results))


def _run(history: History, release: MeasuredRelease) -> ComparedRun:
    plans = {(each.record.plan, each.record.seed) for each in history.outputs.values()} or {("fixed", 0)}
    plan, seed = min(plans)
    name = f"{history.library} {release.version}"
    command = f"gelu-verify versions {history.library} --from {release.version} --to {release.version}"
    results = sum(len(levels) for levels in release.results.values())
    return ComparedRun(name, release.released or release.measured, command, plan, seed, results)


def _differences(old: MeasuredRelease, new: MeasuredRelease) -> list[Difference]:
    """What else the two were measured with."""

    def of(title: str, a: Mapping[str, str], b: Mapping[str, str]) -> list[Difference]:
        names = sorted({*a, *b})
        return [Difference(title.format(n), a.get(n), b.get(n)) for n in names if a.get(n) != b.get(n)]

    return [*of("version of {}", old.packages, new.packages), *of("{} of the machine", old.machine, new.machine)]


@dataclass(frozen=True)
class ReleaseStep:
    """A release, and what changed since the one before it that could be measured."""

    release: MeasuredRelease
    before: MeasuredRelease | None
    changes: tuple[PathChange, ...]

    @property
    def changed(self) -> list[PathChange]:
        """Without what stayed the same."""
        return [each for each in self.changes if each.verdict != "same"]


def steps(history: History) -> list[ReleaseStep]:
    """Each release beside the one before it; of one that failed there is nothing to say but that."""
    found, before = [], None
    for release in history.releases:
        if release.failure or before is None:
            found.append(ReleaseStep(release, None, ()))
        else:
            found.append(ReleaseStep(release, before, tuple(changes_between(history, before, release))))
        before = before if release.failure else release
    return found


# ---- since when ------------------------------------------------------------------------------------

Holds = Callable[[KeptOutput, KeptOutput], bool]  # of an older output, and of the latest


def unchanged_since(history: History, key: str, level: str, release: MeasuredRelease) -> MeasuredRelease | None:
    """The first release of those up to this one that all gave the same outputs; None where this one has none."""
    return _first(history, key, level, release, lambda older, latest: are_same(key, level, older, latest))


def failing_since(
    history: History, key: str, level: str, release: MeasuredRelease, check: str
) -> MeasuredRelease | None:
    """The first of those up to this one in all of which that check failed; None where it does not fail."""
    return _first(history, key, level, release, lambda older, latest: check in older.record.checks)


def _first(history: History, key: str, level: str, release: MeasuredRelease, holds: Holds) -> MeasuredRelease | None:
    latest, first = history.output(release, key, level), None
    for each in reversed(_up_to(history, release)):
        output = history.output(each, key, level)
        if output is None:
            continue
        if latest is None or not holds(output, latest):
            break
        first = each
    return first


def last_before(history: History, key: str, level: str, release: MeasuredRelease) -> MeasuredRelease | None:
    """The newest release before this one that has the path; None where it is the oldest."""
    older = _up_to(history, release)[:-1]
    return next((each for each in reversed(older) if history.output(each, key, level)), None)


def _up_to(history: History, release: MeasuredRelease) -> tuple[MeasuredRelease, ...]:
    places = [at for at, each in enumerate(history.releases) if each.version == release.version]
    return history.releases[: places[0] + 1] if places else ()
