"""The summary of a step of GitHub Actions: Markdown that says what failed, what changed and how good the rest is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ..errors import printable
from ..report.markdown_blocks import escape, folded, table
from .verdicts import OUTCOMES, Verdict, worst_first

_OPEN = 8  # reasons of a result that are not folded
LIMIT = 1 << 20  # bytes of all summaries of a step: GitHub shows nothing of a larger one


def summary(title: str, verdicts: Sequence[Verdict], limit: int = LIMIT) -> str:
    """Counts, then what did not pass with its witnesses, then what changed, then all grades; less where it must.

    Empty where not even the counts fit.
    """
    counts = Counter(each.outcome for each in verdicts)
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    text = f"## {escape(title)}: {said or 'nothing was judged'}\n\n"
    parts = [*_parts(worst_first(verdicts))]
    room = limit - len(text.encode())
    sizes = [0, *accumulate(len(part.encode()) for part in parts)]  # of the first so many of them
    if sizes[-1] > room:
        if len(_cut(len(parts)).encode()) > room:
            return ""
        kept = max(n for n in range(len(sizes)) if not n or sizes[n] + len(_cut(len(parts)).encode()) <= room)
        parts[kept:] = [_cut(len(parts) - kept)]
    return text + "".join(parts)


def _cut(left_out: int) -> str:
    return f"_{left_out} parts of this summary are left out: GitHub accepts 1 MiB. The log has every result._\n"


def _parts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Each stands for itself, so that the last ones can be left out."""
    for each in verdicts:
        if each.outcome in ("failed", "not measured"):
            yield _told(each)
    noted = [each for each in verdicts if each.notes and each.outcome == "passed"]
    changed = [(each.key, note) for each in noted for note in each.notes]
    yield from _tables("What else is noted", ("result", "note"), changed)
    rows = [(each.outcome, each.key, each.title, each.sentence) for each in verdicts]
    yield from _tables("Every result", ("outcome", "result", "grade", "in a sentence"), rows)


def _told(each: Verdict) -> str:
    """What did not pass, with its input, what was returned and what is right, and the command that repeats it."""
    lines = [f"### {escape(each.key)}: {each.outcome}\n"]
    lines += [f"- {escape(reason)}" for reason in each.reasons[:_OPEN] or (each.outcome,)]
    if each.sentence:
        lines.append(f"- {escape(f'{each.title}: {each.sentence}' if each.title else each.sentence)}")
    if each.place:
        lines.append(f"- {escape(f'{each.place.path}:{each.place.line}')}")
    values = [(value.name, value.bits, value.hex_float, value.decimal) for value in each.values]
    witness = "\n" + table(("", "bits", "hex float", "decimal"), values) if values else ""
    repeat = f"\n```\n{printable(each.repeat)}\n```\n" if each.repeat else ""
    more = [*each.reasons[_OPEN:], *(f"note: {note}" for note in each.notes)]
    rest = folded(f"{len(more)} more", "".join(f"- {escape(line)}\n" for line in more))
    return "\n".join(lines) + f"\n{witness}{repeat}\n{rest}\n"


def _tables(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """In folded tables of a hundred rows."""
    for first in range(0, len(rows), 100):
        which = f" ({first + 1} to {min(first + 100, len(rows))})" if len(rows) > 100 else ""
        yield folded(f"{title}{which}", table(head, rows[first : first + 100])) + "\n"
