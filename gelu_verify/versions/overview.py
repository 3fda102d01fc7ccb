"""All libraries whose releases were measured, and what changed last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..judge.changes import Verdict
from ..records.fields import Count, Name, about
from .timeline import Day, Timeline, TimelineChange


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryReleases:
    """What was measured of one library."""

    library: Name = field(metadata=about("the library"))
    distribution: Name = field(metadata=about("what is installed"))
    releases: Count = field(metadata=about("releases that were measured"))
    failed: Count = field(metadata=about("releases of which nothing could be measured"))
    first: str | None = field(metadata=about("the oldest that was measured", null="where none was"))
    last: str | None = field(metadata=about("the newest", null="where none was"))
    released: Day | None = field(metadata=about("the day of the newest", null="where nobody says"))
    results: Count = field(metadata=about("paths of the library, times dtypes, in the newest"))
    changed: Count = field(metadata=about("how many of the library's own ever gave other bits"))
    broken: Count = field(metadata=about("how many of these are broken in the newest"))
    last_change: str | None = field(metadata=about("the release of the last change", null="where there was none"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestChange:
    """One change of the accuracy of a library."""

    library: Name = field(metadata=about("the library"))
    version: Name = field(metadata=about("the release"))
    released: Day | None = field(metadata=about("its day", null="where nobody says"))
    verdict: Verdict = field(metadata=about("by the rules of `compare`"))
    sentence: str = field(metadata=about("what changed"))
    place: str = field(metadata=about("its place on the page of the library"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Libraries:
    """All libraries whose releases were measured, and what changed last."""

    libraries: tuple[LibraryReleases, ...] = field(metadata=about("by name"))
    changes: tuple[LatestChange, ...] = field(
        metadata=about("of the libraries' own paths, the newest first; at most 200, without slight ones")
    )


MOST_CHANGES = 200


def libraries(timelines: Iterable[Timeline]) -> Libraries:
    """Of the timelines of all."""
    found = [*timelines]
    told = [
        (each, change)
        for each in found
        for change in each.own_changes
        if change.verdict != "changed" and not change.is_slight
    ]
    changes = [_latest(*each) for each in told]
    changes.sort(key=lambda each: each.released or "", reverse=True)
    return Libraries(libraries=tuple(map(_summary, found)), changes=tuple(changes[:MOST_CHANGES]))


def _latest(found: Timeline, change: TimelineChange) -> LatestChange:
    return LatestChange(
        library=found.library, version=change.version, released=change.released, verdict=change.verdict,
        sentence=f"{found.library} {change.version}: {change.sentence}{change.at_levels}", place=change.id,
    )  # fmt: skip


def _summary(found: Timeline) -> LibraryReleases:
    measured = found.measured
    newest = measured[-1] if measured else None
    now = [each.key for each in found.series if newest and each.states[-1].last == newest.version]
    own = [each for each in found.series if each.own]
    last = [each.states[-1] for each in own if newest and each.states[-1].last == newest.version]
    return LibraryReleases(
        library=found.library, distribution=found.distribution, releases=len(measured),
        failed=len(found.releases) - len(measured), first=measured[0].version if measured else None,
        last=newest.version if newest else None, released=newest.released if newest else None, results=len({*now}),
        changed=len({each.key for each in found.own_changes}),
        broken=sum(state.grade == "broken" for state in last),
        last_change=found.own_changes[0].version if found.own_changes else None,
    )  # fmt: skip
