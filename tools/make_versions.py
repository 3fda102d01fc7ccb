"""Write docs/versions.md from the measured releases in data/versions: python tools/make_versions.py"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from gelu_verify.formats import DTYPES
from gelu_verify.functions import FUNCTIONS
from gelu_verify.records.claims import grade_text
from gelu_verify.report.versions_text import (
    ABSENT,
    LIBRARIES_HEAD,
    LIBRARIES_NOTE,
    METHOD,
    SAME,
    by_release,
    dated,
    failures,
    levels_text,
    libraries_rows,
    summary,
    tally,
)
from gelu_verify.show.document import Block, Heading, Inline, Items, Marked, Section, Text, TextTable
from gelu_verify.show.markdown import of_blocks
from gelu_verify.versions.overview import libraries
from gelu_verify.versions.store import libraries_in, read_history
from gelu_verify.versions.timeline import Timeline, TimelineSeries, timeline

ROOT = Path(__file__).parents[1]
STORED, PAGE = ROOT / "data" / "versions", ROOT / "docs" / "versions.md"
SHOWN = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")  # and their derivatives: of which the state is listed
MOST = 6  # sentences of one release

HEAD = """\
<!-- written by `python tools/make_versions.py` from data/versions: do not edit. -->
# Which release changed what

How accurate is the GELU of each release of a library, and at which release did that change? Releases are measured in
environments of their own, and what they gave is in `data/versions`, a small file for each. The documentation site and
the service have a page for each library with every path and release, both error curves of every change, JSON, CSV and
an Atom feed ([http.md](http.md#releases-of-libraries), [json.md](json.md#releases-of-libraries)).

    gelu-verify upgrade torch 2.8 2.13             # may I? what changes, from these records; --fail-on worse for CI
    gelu-verify versions torch --bisect --target torch.gelu --dtype float32 -x inf     # the first that differs at x
    gelu-verify versions my_package --target my_package:gelu       # a package of your own; --find-links DIR: no network
    gelu-verify versions . --target ops.py:gelu --from v1.0        # commits of a checkout
    gelu-verify versions all --releases 10 --isa avx2 --isa avx512 --workers 2 --out data/versions     # as here

Environments are made by uv (`pip install 'gelu-verify[versions]'`), or by pip where uv is missing; what is measured is
kept in `reports/versions`. Old wheels of torch need a C compiler and binutils: what they need of CUDA is replaced by
stand-ins.
"""


def page(root: Path = STORED) -> str:
    """docs/versions.md of the releases in a folder."""
    found = [timeline(read_history(root, library)) for library in libraries_in(root)]
    everything = libraries(found)
    blocks: list[Block] = [
        TextTable(LIBRARIES_HEAD, libraries_rows(everything)),
        Text(LIBRARIES_NOTE),
        *(Section(each.library, [*_library(each)]) for each in found),
        Section("How it was measured", [Text(METHOD), Text(SAME), Text(ABSENT)]),
    ]
    return f"{HEAD}\n{of_blocks(blocks)}"


def _library(found: Timeline) -> Iterator[Block]:
    """What holds today, what changed, what could not be measured."""
    yield Text(summary(found))
    columns = ("call", *(Heading(dtype, is_optional=True) for dtype in DTYPES))
    if today := [*_today(found)]:
        yield Section("Today, and since when", [TextTable(columns, today)])
    if steps := [block for step in _steps(found) for block in step]:
        yield Section("What changed", steps)
    if failed := failures(found):
        yield Section("Not measured", [Items(failed)])


def _today(found: Timeline) -> Iterator[list[Inline]]:
    """One row for each of the library's own calls."""
    own = [each for each in found.series if each.own and each.function.removesuffix("_grad") in SHOWN]
    for (_, function), lanes in groupby(own, key=lambda each: (each.target, each.function)):
        series = [*lanes]
        cells: list[Inline] = [_since(found, [each for each in series if each.dtype == dtype]) for dtype in DTYPES]
        named = (
            Marked(series[0].call, "code"),
            "" if FUNCTIONS[function].name in series[0].target else f" as {function}",
        )
        yield [named, *cells]


def _since(found: Timeline, lanes: Sequence[TimelineSeries]) -> str:
    """ "○ accurate since 2.0.0", at each level where they differ."""
    measured = [each.version for each in found.measured]
    texts = []
    for lane in lanes:
        state = lane.states[-1]
        grade = grade_text(state.grade, state.grade_bound)
        where = f"{levels_text(lane.levels)}: " if len(lanes) > 1 else ""
        if state.last != measured[-1]:
            texts.append(f"{where}absent since {measured[measured.index(state.last) + 1]}")
        else:
            texts.append(f"{where}{grade}, {state.first}{' or earlier' if state.first == measured[0] else ''}")
    return "\n".join(texts)


def _steps(found: Timeline) -> Iterator[list[Block]]:
    """Each release that changed any of the library's own calls, and what got better or worse."""
    for release, changes in by_release(found):
        own = [each for each in changes if each.own]
        told = [
            f"{each.sentence}{each.at_levels}"
            for each in own
            if each.verdict not in ("changed", "appeared") and not each.is_slight
        ]
        more = [f"and {len(told) - MOST} more, on the page of the library"] if len(told) > MOST else []
        if own:
            yield [Text((Marked(dated(release), "bold"), f": {tally(own)}.")), Items([*told[:MOST], *more])]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
