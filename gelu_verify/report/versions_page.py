"""A page of all releases of a library, and one of all libraries: without a network, readable without scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from markupsafe import Markup

from .. import __version__
from ..buckets.bins import HIGHEST, layout
from ..compare.runs import ORDER
from ..show.chart import MINUS, Axis, Chart, Curve, octaves
from ..show.document import Block, Details, Text, TextTable
from ..show.drawing import STYLE, path_data, svg
from ..show.html import read
from ..versions.overview import Libraries
from ..versions.store import CURVE, STEPS, History, KeptOutput
from ..versions.timeline import Timeline, TimelineChange, TimelineSeries, TimelineState
from .axis import ticks
from .files import environment, inline
from .legend import grade_rows
from .page import typographic
from .versions_grid import LABEL, anchor, columns, groups
from .versions_text import (
    LIBRARIES_HEAD,
    LIBRARIES_NOTE,
    MARKS,
    appeared_text,
    by_release,
    change_items,
    change_table,
    dated,
    headline,
    libraries_headline,
    libraries_rows,
    method_blocks,
    states_table,
    tally,
    verdict_text,
)

STYLES = ("web/grades.css", "web/versions.css")
LOWEST = -4  # octaves of the error axis
TICKS = ("0", "0.0625", "1", "8", "64")
SHOWN = 40  # changes on the page of all libraries
WIDTH, HEIGHT = 640, 230  # of a chart of two curves


@dataclass(frozen=True, kw_only=True)
class ShownChange:
    """A change on the page; of what appeared or vanished, and of a formula, the sentence alone."""

    id: str
    sentence: str
    verdict: Any
    blocks: Sequence[Block] = ()
    curves: tuple[str, str] = ("", "")  # ids of the drawings of old and new
    chart: str = ""
    before: str = ""
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class ReleaseChanges:
    """What changed at a release."""

    version: str
    title: str
    own: Sequence[ShownChange]
    formulas: Sequence[ShownChange]
    appeared: str


def library_page(history: History, found: Timeline) -> str:
    """The page of one library."""
    states = {state.outputs: state for each in found.series for state in each.states}
    releases = [_changes(dated(release), members, states) for release, members in by_release(found)]
    drawn = {name for each in releases for one in each.own for name in one.curves if name}
    curves, frames = _drawings(history, drawn)
    cells = columns(found)
    return _render(
        "versions.html",
        found=found,
        headline=headline(found),
        columns=cells,
        label=LABEL,
        width=f"{LABEL + sum(each.width for each in cells):g}",
        groups=[
            ("the library's own calls", groups(found, own=True)),
            ("formulas written with its functions", groups(found, own=False)),
        ],
        releases=releases,
        curves=curves,
        frames=frames,
        paths=[*_paths(found, own=True)],
        formulas=[*_paths(found, own=False)],
        method=[*method_blocks(found)],
        signs=[*MARKS.values()],
        view=f"0 0 {WIDTH} {HEIGHT}",
        has_scripts=True,
        script=inline("web/versions.js"),
    )


def libraries_page(found: Libraries, json: str) -> str:
    """The page of all libraries; `json`: where the same is as JSON."""
    return _render(
        "versions-index.html",
        headline=libraries_headline(found),
        table=TextTable(LIBRARIES_HEAD, libraries_rows(found), "libraries"),
        note=LIBRARIES_NOTE,
        json=json,
        latest=found.changes[:SHOWN],
        later=found.changes[SHOWN:],
    )


def _render(name: str, **content: Any) -> str:
    made = environment()
    made.filters.update(anchor=anchor, verdict=verdict_text, typographic=typographic)
    style = read("page.css") + read("document.css") + Markup(STYLE) + Markup("").join(map(inline, STYLES))
    return made.get_template(f"web/{name}").render(
        version=__version__, style=style, grades=grade_rows(), feed="changes.atom", **content
    )


# ---- what changed ----------------------------------------------------------------------------------


def _changes(title: str, members: Sequence[TimelineChange], states: Mapping[str, TimelineState]) -> ReleaseChanges:
    own = [each for each in members if each.own]
    told = sorted((each for each in members if each.verdict != "appeared"), key=lambda each: ORDER.index(each.verdict))
    return ReleaseChanges(
        version=members[0].version,
        title=f"{title}: {tally(own)}" if own else f"{title}: formulas alone",
        own=[_shown(each, states) for each in told if each.own],
        formulas=[_shown(each, states) for each in told if not each.own],
        appeared=appeared_text(own),
    )


def _shown(change: TimelineChange, states: Mapping[str, TimelineState]) -> ShownChange:
    sentence = f"{change.sentence}{change.at_levels}"
    bare = ShownChange(id=anchor(change.id), sentence=sentence, verdict=change.verdict)
    if change.old_outputs is None or change.new_outputs is None or not change.own:
        return bare
    table = change_table(change, states[change.old_outputs], states[change.new_outputs])
    return ShownChange(
        id=bare.id, sentence=sentence, verdict=change.verdict, blocks=[table, *change_items(change)],
        curves=(change.old_outputs, change.new_outputs), chart=change.dtype, before=change.before,
        version=change.version,
    )  # fmt: skip


def _paths(found: Timeline, own: bool) -> Iterator[tuple[str, Sequence[Block]]]:
    """(id, blocks) of each path."""
    members = [each for each in found.series if each.own == own]
    for name, lanes in groupby(members, key=lambda each: f"{each.target}/{each.function}"):
        series = [*lanes]
        blocks: list[Block] = [states_table(series)]
        blocks += [Text(_sentences(series), "note")] if any(each.states[-1].sentence for each in series) else []
        blocks += [Text(text, "note") for text in _absences(series)]
        yield anchor(f"path/{name}"), [Details(f"{series[0].call} ({series[0].target})", blocks)]


def _sentences(series: Sequence[TimelineSeries]) -> str:
    """What is said of the newest outputs."""
    newest = {
        f"{each.dtype}, {each.states[-1].last}: {each.states[-1].sentence}": None
        for each in series
        if each.states[-1].sentence
    }
    return "\n".join(newest)


def _absences(series: Sequence[TimelineSeries]) -> Iterator[str]:
    """In which releases there are none, and why."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for each in series:
        for version, reason in each.absent.items():
            found.setdefault((each.dtype, reason), {})[version] = None
    for (dtype, reason), versions in found.items():
        yield f"{dtype} is absent in {', '.join(versions)}{f': {reason}' if reason else ' at some level'}"


# ---- curves ----------------------------------------------------------------------------------------


def _drawings(history: History, digests: set[str]) -> tuple[dict[str, str], dict[str, Markup]]:
    """The path of each curve by its digest, and the axes of each dtype: drawn once, used by every chart."""
    by_dtype: dict[str, list[KeptOutput]] = {}
    for digest in sorted(digests):
        output = history.outputs[digest]
        by_dtype.setdefault(output.record.dtype, []).append(output)
    curves: dict[str, str] = {}
    frames: dict[str, Markup] = {}
    for dtype, outputs in by_dtype.items():
        chart = _frame(dtype, outputs)
        frames[dtype] = svg(chart)
        curves |= {each.digest: path_data(chart, Curve(points=_points(each))) for each in outputs}
    return curves, frames


def _frame(dtype: str, outputs: Sequence[KeptOutput]) -> Chart:
    """Largest error over the bins of a dtype, high enough for all of its curves."""
    bins = layout(dtype, CURVE)
    highest = max((math.ceil(step / STEPS) for each in outputs for step in each.curve if step is not None), default=0)
    x = Axis((0, bins.size), [(float(at), text) for at, text in ticks(bins) if text.lstrip(MINUS) in TICKS], "x")
    y = octaves((LOWEST, min(max(highest, LOWEST + 6), HIGHEST)), "largest error, ULP", most=6)
    return Chart(
        title=f"largest error over x, {dtype}",
        x=x,
        y=Axis(y.span, y.ticks, y.title),
        attributes={"id": f"frame-{dtype}"},
        width=WIDTH,
        height=HEIGHT,
        left=44,
        top=14,
    )


def _points(output: KeptOutput) -> list[tuple[float, float]]:
    """In the middle of each bin; a gap where it has no inputs."""
    steps = np.array([math.nan if step is None else step for step in output.curve]) / STEPS
    return [(place + 0.5, value) for place, value in enumerate(np.maximum(steps, LOWEST).tolist())]
