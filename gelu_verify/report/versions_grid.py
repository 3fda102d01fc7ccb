"""The table of a library's page of releases: a bar for all releases that gave the same bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..records.grades import GRADES, MARKS
from ..versions.timeline import Timeline, TimelineChange, TimelineSeries, TimelineState
from .ranking import UNGRADED
from .versions_text import MARKS as SIGNS
from .versions_text import bar_title, levels_text, releases_text, short_error, verdict_text
from ..show.document import plain

NARROW, WIDE = 1.75, 3.7  # rem: a release at which nothing changed, and one at which something did
LABEL, DESK = 9.5, 84.0  # of the first column, and of the page
WIDEST = 2.2  # times as wide, where there are few releases


@dataclass(frozen=True, kw_only=True)
class Bar:
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
class Row:
    """One dtype of a path, at levels that gave the same."""

    dtype: str
    levels: str
    bars: Sequence[Bar]
    changed: bool


@dataclass(frozen=True, kw_only=True)
class Group:
    """One path, with its dtypes."""

    call: str
    function: str
    target: str
    rows: Sequence[Row]

    @property
    def changed(self) -> bool:
        return any(each.changed for each in self.rows)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A release, and how wide its column is in rem."""

    version: str
    released: str
    steps: bool  # whether anything changed there
    width: float


def columns(found: Timeline) -> list[Column]:
    """Those that were measured."""
    steps = {state.first for each in found.series if each.own for state in each.states}
    widths = [WIDE if each.version in steps else NARROW for each in found.measured]
    scale = min(WIDEST, max(1.0, (DESK - LABEL) / sum(widths))) if widths else 1.0
    return [
        Column(version=each.version, released=each.released or "", steps=each.version in steps, width=round(scale * width, 2))
        for each, width in zip(found.measured, widths, strict=True)
    ]


def groups(found: Timeline, own: bool) -> list[Group]:
    """The library's own paths, or formulas that are written with its functions."""
    links = {(each.version, each.key, level): each.id for each in found.changes for level in each.levels or ("",)}
    members = [each for each in found.series if each.own == own]
    made = []
    for (target, function), lanes in groupby(members, key=lambda each: (each.target, each.function)):
        series = [*lanes]
        rows = [
            Row(dtype=each.dtype, levels=levels_text(each.levels), bars=[*_bars(found, each, links)], changed=len(each.states) > 1)
            for each in series
        ]
        made.append(Group(call=series[0].call, function=function, target=target, rows=rows))
    return made


def anchor(place: str) -> str:
    """An id that needs no quotes in an address."""
    return re.sub(r"[^A-Za-z0-9.+-]", "_", place)


def _bars(found: Timeline, series: TimelineSeries, links: dict[tuple[str, str, str], str]) -> Iterator[Bar]:
    """One for each state, and for what lies between them."""
    places = {each.version: place for place, each in enumerate(found.measured)}
    cells: list[TimelineState | str] = [""] * len(places)
    for version, reason in series.absent.items():
        if version in places:
            cells[places[version]] = f"absent: {reason}" if reason else "absent"
    for state in series.states:
        first, last = places[state.first], places[state.last]
        cells[first : last + 1] = [state] * (last + 1 - first)
    for what, run in groupby(cells, key=lambda each: each if isinstance(each, str) else each.first):
        members = [*run]
        yield _bar(series, members[0], len(members), links) if not isinstance(members[0], str) else Bar(
            span=len(members), title=what, label=what
        )


def _bar(series: TimelineSeries, state: TimelineState | str, span: int, links: dict[tuple[str, str, str], str]) -> Bar:
    assert not isinstance(state, str)
    places = (links.get((state.first, series.key, level)) for level in ("", *series.levels))
    link = next(filter(None, places), "") if state.verdict not in (None, "appeared") else ""
    grade = GRADES[state.grade] if state.grade else None
    error = short_error(state)
    said = [releases_text(state), plain(verdict_text(state.verdict)), grade.title if grade else "not graded", f"{error} ULP" if error else ""]
    return Bar(
        span=span,
        title=bar_title(series.dtype, state),
        grade=state.grade or UNGRADED,
        letter=grade.letter if grade else "?",
        mark=MARKS[state.grade_bound],
        error=error,
        sign=SIGNS[state.verdict][0] if state.verdict in SIGNS else "",
        label=", ".join(filter(None, said)),
        link=anchor(link or f"path/{series.key}"),
    )


def has_page(change: TimelineChange) -> bool:
    """Whether all of it is shown, and not the sentence alone."""
    return change.old_outputs is not None and change.new_outputs is not None
