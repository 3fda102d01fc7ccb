"""What changed from one release to another, by the rules of `compare`; and since when something has been so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..judge.changes import Verdict, changes, verdict_of
from ..judge.sides import Change, Sides
from .store import History, MeasuredRelease, Output

_ORDER: tuple[Verdict, ...] = ("worse", "mixed", "vanished", "unknown", "changed", "better", "appeared", "same")


@dataclass(frozen=True)
class PathChange:
    """What changed of one target/function/dtype at one level.

    Parameters
    ----------
    changes : as `compare` has them, the worst first
    intervals : of x, in which any output has other bits
    """

    key: str
    level: str
    verdict: Verdict
    old: Output | None
    new: Output | None
    changes: tuple[Change, ...] = ()
    intervals: tuple[str, ...] = ()


def changes_between(history: History, old: MeasuredRelease, new: MeasuredRelease) -> list[PathChange]:
    """Of everything that either release has; the worst first."""
    found = []
    for key in history.keys:
        if key not in {*old.results, *old.absent} or key not in {*new.results, *new.absent}:
            continue  # one of them was not asked
        levels = {level for each in (old, new) for level in each.results.get(key, {})}
        for level in sorted(levels):
            found += _change(key, level, history.output(old, key, level), history.output(new, key, level))
    return sorted(found, key=lambda each: (_ORDER.index(each.verdict), each.key, each.level))


def _change(key: str, level: str, old: Output | None, new: Output | None) -> Iterator[PathChange]:
    if old is None or new is None:
        yield PathChange(key, level, "vanished" if new is None else "appeared", old, new)
    elif old.digest == new.digest:
        yield PathChange(key, level, "same", old, new)
    else:
        sides = Sides(old.record, new.record, old_lists_failures=True, new_lists_failures=True)
        found = changes(sides)
        where = tuple(name for name in old.intervals if old.intervals[name] != new.intervals.get(name))
        verdict = verdict_of(found)
        yield PathChange(key, level, "changed" if verdict == "same" else verdict, old, new, tuple(found), where)


@dataclass(frozen=True)
class Step:
    """A release, and what changed since the one before it that could be measured."""

    release: MeasuredRelease
    before: MeasuredRelease | None
    changes: tuple[PathChange, ...]

    @property
    def changed(self) -> list[PathChange]:
        """Without what stayed the same."""
        return [each for each in self.changes if each.verdict != "same"]


def steps(history: History) -> list[Step]:
    """Each release beside the one before it; of one that failed there is nothing to say but that."""
    found, before = [], None
    for release in history.releases:
        if release.failure or before is None:
            found.append(Step(release, None, ()))
        else:
            found.append(Step(release, before, tuple(changes_between(history, before, release))))
        before = before if release.failure else release
    return found


def unchanged_since(history: History, key: str, level: str, release: MeasuredRelease) -> MeasuredRelease | None:
    """The first release of those up to this one that all gave the same outputs; None where this one has none."""
    return _first(history, key, level, release, lambda output, latest: output.digest == latest.digest)


def failing_since(history: History, key: str, level: str, release: MeasuredRelease, check: str) -> MeasuredRelease | None:
    """The first of those up to this one in all of which that check failed; None where it does not fail."""
    return _first(history, key, level, release, lambda output, latest: check in output.record.checks)


def _first(history: History, key: str, level: str, release: MeasuredRelease, holds) -> MeasuredRelease | None:  # type: ignore[no-untyped-def]
    measured = [each for each in history.releases if history.output(each, key, level)]
    if release not in measured:
        return None
    latest = history.output(release, key, level)
    found = None
    for each in reversed(measured[: measured.index(release) + 1]):
        if not holds(history.output(each, key, level), latest):
            break
        found = each
    return found


def is_oldest(history: History, release: MeasuredRelease) -> bool:
    """Whether no older release was measured, so that what is since then may be older."""
    usable: Sequence[MeasuredRelease] = [each for each in history.releases if not each.failure]
    return bool(usable) and usable[0] == release
