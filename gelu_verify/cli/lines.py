"""Grades, claims and errors in few columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..records.claims import error_text, marked
from ..records.grades import GRADES, MARKS
from ..records.parts import Bound, Grade
from ..records.result import Record
from ..report.text import LIMITS
from ..show.terminal import Line

_NARROW = (
    *((f"{mark} ", mark) for mark in MARKS.values() if mark),
    *((f" {sign} ", sign) for sign in (">=", "<=")),
    *(("e+", "e"), ("e-0", "e-"), ("but for", "but"), (" inputs", ""), (" input", "")),
)
_SYMMETRIC = re.compile(r"-([\d.e-]+)<=x<=\1(?![\d.e])")
WORD = max(len(grade.word) for grade in GRADES.values())
NUMBER = 8  # '>=1.67e7'


def word(grade: Grade | None) -> str:
    """The grade where columns are narrow."""
    return GRADES[grade].word if grade else "-"


def grade_span(record: Record) -> tuple[str, str]:
    """The grade in one word."""
    return narrow(marked(word(record.grade), record.grade_bound)).ljust(WORD + 1), record.grade or "dim"


def narrow(claim: str) -> str:
    """A claim in few columns: "○x>=-1.32 but 3"."""
    for long, short in _NARROW:
        claim = claim.replace(long, short)
    return _SYMMETRIC.sub(r"|x|<=\1", claim)


def number(error: float | None, bound: Bound) -> str:
    """An error in few columns: '>0.5' where it is so little above 0.5 that the digits do not fit."""
    if error is None:
        return "n/a"
    text = error_text(error, bound, 2 if error >= 1e10 else 3)
    limit = max((limit for limit in LIMITS if limit < error), default=0)
    return text if len(text) <= NUMBER or error >= 10 else f">{limit}"


def as_fit(parts: Sequence[Sequence[Line]], room: int, what: str, which: str = "") -> Iterator[Line]:
    """As many parts as there is room for, at least one, and how many there are more."""
    left = room - 1  # for the last line
    for place, lines in enumerate(parts):
        left -= len(lines)
        if left < 0 and place:
            more = len(parts) - place
            yield [(f"and {more} more {what}{'' if more == 1 else 's'}{which} (--details)", "dim")]
            return
        yield from lines


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as lines, all columns as wide as their longest text."""
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(max(map(len, rows)))]
    for row in rows:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip()
