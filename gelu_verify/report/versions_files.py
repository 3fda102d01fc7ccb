"""Releases of libraries as files of one folder: a page, JSON and CSV of each library, a page of all, and a feed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .. import __version__
from ..errors import printable
from ..records.serialize import to_json
from ..show.html import inline
from ..versions.overview import Libraries, libraries
from ..versions.store import History, libraries_in, read_history
from ..versions.timeline import Timeline, TimelineChange, TimelineRelease, timeline
from .versions_grid import anchor
from .versions_page import libraries_page, library_page
from .versions_text import by_release, tally

INDEX, INDEX_JSON, FEED = "libraries.html", "libraries.json", "changes.atom"
ATOM = "http://www.w3.org/2005/Atom"
MOST_ENTRIES, MOST_SENTENCES = 100, 20
CSV_HEAD = (
    *(
        "library",
        "target",
        "function",
        "dtype",
        "call",
        "own",
        "levels",
        "first",
        "first_released",
        "last",
        "last_released",
    ),
    *("releases", "verdict", "grade", "grade_bound", "max_ulp", "bound", "n", "body_ulp", "tail_ulp", "accurate_from"),
    *("accurate_to", "zero_from", "failed_checks", "conventions", "outputs"),
)
_NONE = "1970-01-01"  # of a feed without entries


def versions_files(root: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of all of them; they link to each other."""
    found = []
    for library in libraries_in(root):
        history = read_history(root, library)
        found.append(each := timeline(history))
        yield from library_files(history, each).items()
    yield from index_files(found).items()


def library_files(history: History, found: Timeline) -> dict[str, bytes]:
    """Those of one library."""
    return {
        f"{found.library}.html": library_page(history, found).encode(errors="replace"),
        f"{found.library}.json": json_of(found),
        f"{found.library}.csv": timeline_csv(found).encode(errors="backslashreplace"),
    }


def index_files(found: Sequence[Timeline]) -> dict[str, bytes]:
    """Those of all libraries."""
    everything = libraries(found)
    page = libraries_page(everything, INDEX_JSON).encode(errors="replace")
    return {INDEX: page, INDEX_JSON: json_of(everything), FEED: feed(found)}


def json_of(found: Timeline | Libraries) -> bytes:
    """As docs/json.md has it."""
    return json.dumps(to_json(found), separators=(",", ":"), allow_nan=False).encode()


def timeline_csv(found: Timeline) -> str:
    """One line for each path, dtype and level, and each run of releases that gave the same bits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    days = {each.version: each.released for each in found.releases}
    for series in found.series:
        for state in series.states:
            span = state.accurate_range
            writer.writerow(
                (found.library, series.target, series.function, series.dtype, series.call, series.own,
                 " ".join(series.levels), state.first, days[state.first], state.last, days[state.last], state.releases,
                 state.verdict, state.grade, state.grade_bound, state.max_ulp, state.bound, state.n, state.body_ulp,
                 state.tail_ulp, span and span.low, span and span.high, state.zero_from and state.zero_from.x,
                 " ".join(state.failed_checks), "; ".join(state.conventions), state.outputs)
            )  # fmt: skip
    return text.getvalue()


# ---- the feed --------------------------------------------------------------------------------------


def feed(found: Sequence[Timeline]) -> bytes:
    """An Atom feed (RFC 4287): an entry for each release that changed a result of the library's own calls."""
    entries = [(each, release, own) for each in found for release, own in _own(each)]
    entries.sort(key=lambda entry: _day(entry[1]), reverse=True)
    top = Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _text(top, "id", "urn:gelu-verify:versions")
    _text(top, "title", "How accurate GELU is, release by release")
    _text(top, "updated", _instant(_day(entries[0][1]) if entries else _NONE))
    _text(SubElement(top, "author"), "name", "gelu-verify")
    SubElement(top, "generator", {"version": __version__}).text = "gelu-verify"
    SubElement(top, "link", {"rel": "self", "type": "application/atom+xml", "href": FEED})
    SubElement(top, "link", {"rel": "alternate", "type": "text/html", "href": INDEX})
    for library, release, changes in entries[:MOST_ENTRIES]:
        top.append(_entry(library.library, release, changes))
    indent(top, "")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(top, encoding="unicode")}\n'.encode()


def _own(found: Timeline) -> Iterator[tuple[TimelineRelease, list[TimelineChange]]]:
    for release, changes in by_release(found):
        own = [each for each in changes if each.own]
        if own:
            yield release, own


def _entry(library: str, release: TimelineRelease, changes: Sequence[TimelineChange]) -> Element:
    entry = Element("entry")
    _text(entry, "id", f"urn:gelu-verify:versions:{library}:{release.version}")
    _text(entry, "title", f"{library} {release.version}: {tally(changes)}")
    for name in ("published", "updated"):
        _text(entry, name, _instant(_day(release)))
    SubElement(
        entry, "link", {"rel": "alternate", "type": "text/html", "href": f"{library}.html#{anchor(release.version)}"}
    )
    lines = [printable(f"{each.sentence}{each.at_levels}") for each in changes]
    more = [f"and {len(lines) - MOST_SENTENCES} more"] if len(lines) > MOST_SENTENCES else []
    items = "".join(f"<li>{inline(line)}</li>" for line in [*lines[:MOST_SENTENCES], *more])
    content = SubElement(entry, "content", {"type": "html"})
    content.text = f"<ul>{items}</ul>"
    return entry


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = text


def _day(release: TimelineRelease) -> str:
    return release.released or release.measured


def _instant(day: str) -> str:
    return f"{day}T00:00:00Z"
