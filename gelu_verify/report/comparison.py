"""A comparison as a document: what changed, the worst first, and every change of each result."""

from __future__ import annotations

from collections.abc import Iterator

from ..compare.comparison import Comparison, ResultComparison
from ..functions.regions import REGIONS
from ..judge.sides import Change
from ..show.document import (
    Block,
    Definitions,
    Details,
    Document,
    Heading,
    Inline,
    Items,
    Listing,
    Marked,
    Section,
    Text,
    TextTable,
    listed,
)
from . import text
from .comparison_text import (
    FROM_TO,
    LISTED,
    WORDS,
    before_and_after,
    bits_text,
    change_lines,
    difference_text,
    errors_text,
    grades_text,
    in_turns_texts,
    name_of,
    names,
    run_text,
    speed_text,
    summary,
    title,
)

LEFT_OUT = "{} results were left out because of their size: --format json and html have them."
_OPEN = 12  # changes of a result that are not folded
_NAMES = tuple(region.name for region in REGIONS)
_COLUMNS: tuple[Heading | str, ...] = (
    *("result", "", "grade", Heading("largest error, ULP", is_number=True)),
    *(Heading(Marked(name, "code"), is_number=True, is_optional=True) for name in _NAMES),
    *(Heading("inputs", is_number=True), Heading("speed", is_long=True, is_optional=True)),
)
_MEANING = (
    "Largest error in ULP of the exact value, before and after, in all and by region of x: empty where it is the same. "
    "Inputs: how many have other results; a range where only the worst output of each bucket was kept."
)


def comparison_document(found: Comparison) -> Document:
    """Summary and table first; then every change, result by result."""
    shown = [each for each in found.results if each.verdict not in LISTED]
    folds = [
        Details(f"{WORDS[verdict]}: {len(members)}", [Text(names(members))])
        for verdict in LISTED
        if (members := found.of_verdict(verdict))
    ]
    table = TextTable(_COLUMNS, [_row(place, each) for place, each in enumerate(shown)], "results that changed")
    overview = [Section("What changed, the worst first", [Text(_MEANING, "lead"), table])] if shown else []
    timed: list[Inline] = [f"{name_of(each)}: {text}" for each in found.results for text in in_turns_texts(each)]
    if timed:
        overview.append(Section("Both revisions timed in turns", [Items(timed)]))
    sections = [
        Section(title(each), list(_changes(each)), id=f"r{place}") for place, each in enumerate(shown) if each.changes
    ]
    return Document(
        title="what changed",
        headline=summary(found),
        blocks=[Definitions(list(_runs(found))), *overview, *folds, *sections],
    )


def _runs(found: Comparison) -> Iterator[tuple[str, Inline]]:
    yield from (("old", run_text(found.old)), ("new", run_text(found.new)))
    yield from (
        (f"command, {side}", Marked(run.command, "code")) for side, run in (("old", found.old), ("new", found.new))
    )
    if found.differences:
        yield "the runs also differ in", Marked("\n".join(map(difference_text, found.differences)), "warn")


def _row(place: int, result: ResultComparison) -> list[Inline]:
    by_region = {change.where: change for change in result.changes if change.what == "region"}
    return [
        (Marked(result.target, "breakable", link=f"r{place}"), Marked(f" {result.function} {result.dtype}", "soft")),
        Marked(WORDS[result.verdict], _mark(result.verdict)),
        grades_text(result).replace(FROM_TO, "\n→ "),
        errors_text(result).removesuffix(" ULP").replace(FROM_TO, "\n→ "),
        *(_region(by_region.get(name)) for name in _NAMES),
        bits_text(result.bits),
        result.speed.text if result.speed and not result.in_turns else "",
    ]


def _region(change: Change | None) -> Inline:
    if change is None:
        return ""
    old, new = text.number_text(change.old_number), text.number_text(change.new_number)
    return Marked(f"{old}\n→ {new}", _mark(change.verdict))


def _mark(what: str) -> str:
    return {"worse": "bad", "mixed": "bad", "vanished": "bad", "better": "good", "unknown": "warn"}.get(what, "")


def _changes(result: ResultComparison) -> Iterator[Block]:
    texts: list[Inline] = [
        (Marked(change.verdict, _mark(change.verdict)), f": {chr(10).join(change_lines(result, change))}")
        for change in result.changes
    ]
    if (speed := speed_text(result)) is not None:
        texts.append(speed)
    if result.sentence:
        yield Text(before_and_after(result))
    yield from listed(texts, _OPEN, "more changes")
    if result.repeat:
        yield Listing(result.repeat)
