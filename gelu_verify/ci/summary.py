"""The summary of a step of GitHub Actions: Markdown that says what failed, what changed and how good the rest is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..show.document import Block, Details, Document, Inline, Items, Listing, Section, TextTable
from ..show.markdown import markdown
from .cases import VERDICTS, Case, worst_first

_OPEN = 8  # reasons of a result that are not folded
LIMIT = 1 << 20  # bytes of all summaries of a step: GitHub shows nothing of a larger one
_LEFT_OUT = "{} parts of this summary are left out: GitHub accepts 1 MiB. The log has every result."


def summary(title: str, cases: Sequence[Case], limit: int = LIMIT) -> str:
    """Counts, then what did not pass with its witnesses, then what changed, then all grades; less where it must.

    Empty where not even the counts fit.
    """
    counts = Counter(each.verdict for each in cases)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    head = Section(f"{title}: {said or 'nothing was judged'}", list(_parts(worst_first(cases))))
    return markdown(Document(title="", headline="", blocks=[head]), limit, _LEFT_OUT)


def _parts(cases: Sequence[Case]) -> Iterator[Block]:
    for each in cases:
        if each.verdict in ("failed", "not measured"):
            yield Section(f"{each.key}: {each.verdict}", list(_told(each)))
    changed = [(each.key, note) for each in cases if each.verdict == "passed" for note in each.notes]
    yield from _tables("What else is noted", ("result", "note"), changed)
    rows = [(each.verdict, each.key, each.title, each.sentence) for each in cases]
    yield from _tables("Every result", ("verdict", "result", "grade", "in a sentence"), rows)


def _told(each: Case) -> Iterator[Block]:
    """What did not pass: the first reason, its input, what was returned and what is right, and the command that repeats
    it; then all else."""
    yield Items([each.reasons[0] if each.reasons else each.verdict])
    values = [(value.name, value.bits, value.hex_float, value.decimal) for value in each.values]
    yield TextTable(("", "bits", "hex float", "decimal"), values)
    yield Listing(each.repeat)
    lines: list[Inline] = [*each.reasons[1:_OPEN]]
    if each.sentence:
        lines.append(f"{each.title}: {each.sentence}" if each.title else each.sentence)
    if each.place:
        lines.append(f"{each.place.path}:{each.place.line}")
    yield Items(lines)
    more = [*each.reasons[_OPEN:], *(f"note: {note}" for note in each.notes)]
    yield Details(f"{len(more)} more", [Items(more)])


def _tables(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Block]:
    """In folded tables of a hundred rows."""
    for first in range(0, len(rows), 100):
        which = f" ({first + 1} to {min(first + 100, len(rows))})" if len(rows) > 100 else ""
        yield Details(f"{title}{which}", [TextTable(head, rows[first : first + 100])])
