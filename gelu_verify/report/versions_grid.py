"""The table of a library's page of releases: a bar for all releases that gave the same bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..records.grades import GRADES, MARKS
from ..show.document import plain
from ..versions.timeline import Timeline, TimelineSeries, TimelineState
from .ranking import UNGRADED
from .versions_text import MARKS as SIGNS
from .versions_text import bar_title, levels_text, releases_text, short_error, verdict_text

NARROW, WIDE = 1.75, 3.7  # rem: a release at which nothing changed, and one at which something did
LABEL, DESK = 9.5, 84.0  # of the first column, and of the page
WIDEST = 2.2  # times as wide, where there are few releases


@dataclass(frozen=True, kw_only=True)
class ReleaseBar:
    """Cells of a row, as many as `span`; what has no grade has no outputs: `title` says why, or it was not asked."""

    span: int
    title: str = ""
    grade: str = ""
    letter: str = ""
    mark: str = ""
    error: str = ""
    sign: str = ""
    label: str = ""
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class ReleaseRow:
    """One dtype of a path, at levels that gave the same."""

    dtype: str
    levels: str
    bars: Sequence[ReleaseBar]
    changed: bool


@dataclass(frozen=True, kw_only=True)
class PathRows:
    """One path, with its dtypes."""

    call: str
    function: str
    target: str
    rows: Sequence[ReleaseRow]

    @property
    def changed(self) -> bool:
        return any(each.changed for each in self.rows)


@dataclass(frozen=True, kw_only=True)
class ReleaseColumn:
    """A release, and how wide its column is in rem."""

    version: str
    released: str
    steps: bool  # whether anything changed there
    width: float


def columns(found: Timeline) -> list[ReleaseColumn]:
    """Those that were measured."""
    steps = {state.first for each in found.series if each.own for state in each.states}
    widths = [WIDE if each.version in steps else NARROW for each in found.measured]
    scale = min(WIDEST, max(1.0, (DESK - LABEL) / sum(widths))) if widths else 1.0
    return [
        ReleaseColumn(
            version=each.version,
            released=each.released or "",
            steps=each.version in steps,
            width=round(scale * width, 2),
        )
        for each, width in zip(found.measured, widths, strict=True)
    ]


def groups(found: Timeline, own: bool) -> list[PathRows]:
    """The library's own paths, or formulas that are written with its functions."""
    links = {(each.version, each.key, level): each.id for each in found.changes for level in each.levels or ("",)}
    members = [each for each in found.series if each.own == own]
    made = []
    for (target, function), lanes in groupby(members, key=lambda each: (each.target, each.function)):
        series = [*lanes]
        rows = [
            ReleaseRow(
                dtype=each.dtype,
                levels=levels_text(each.levels),
                bars=[*_bars(found, each, links)],
                changed=len(each.states) > 1,
            )
            for each in series
        ]
        made.append(PathRows(call=series[0].call, function=function, target=target, rows=rows))
    return made


def anchor(place: str) -> str:
    """An id that needs no quotes in an address."""
    return re.sub(r"[^A-Za-z0-9.+-]", "_", place)


def _bars(found: Timeline, series: TimelineSeries, links: dict[tuple[str, str, str], str]) -> Iterator[ReleaseBar]:
    """One for each state, and for what lies between them."""
    place = {each.version: at for at, each in enumerate(found.measured)}
    starts = {place[state.first]: state for state in series.states}
    at = 0
    while at < len(place):
        if state := starts.get(at):
            span = place[state.last] + 1 - at
            yield _bar(series, state, span, links)
        else:
            end = next((start for start in sorted(starts) if start > at), len(place))
            reasons = [_reason(series, each.version) for each in found.measured[at:end]]
            span = next((more for more, reason in enumerate(reasons) if reason != reasons[0]), len(reasons))
            yield ReleaseBar(span=span, title=reasons[0], label=reasons[0])
        at += span


def _reason(series: TimelineSeries, version: str) -> str:
    """Why a release has none; empty where it was not asked."""
    return f"absent: {series.absent[version] or 'at this level'}" if version in series.absent else ""


def _bar(series: TimelineSeries, state: TimelineState, span: int, links: dict[tuple[str, str, str], str]) -> ReleaseBar:
    places = (links.get((state.first, series.key, level)) for level in ("", *series.levels))
    link = next(filter(None, places), "") if state.verdict not in (None, "appeared") else ""
    grade = GRADES[state.grade] if state.grade else None
    error = short_error(state)
    said = [
        releases_text(state),
        plain(verdict_text(state.verdict)),
        grade.title if grade else "not graded",
        f"{error} ULP" if error else "",
    ]
    return ReleaseBar(
        span=span,
        title=bar_title(series.dtype, state),
        grade=state.grade or UNGRADED,
        letter=grade.letter if grade else "?",
        mark=MARKS[state.grade_bound],
        error=error,
        sign=SIGNS[state.verdict][0] if state.verdict in SIGNS else "",
        label=", ".join(filter(None, said)),
        link=anchor(link or f"path/{series.target}/{series.function}"),
    )
