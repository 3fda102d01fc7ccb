"""Styled lines of text: colour on a terminal, plain ASCII elsewhere."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from ..records.claims import error_text, marked
from ..records.grades import GRADES, MARKS
from ..records.parts import Bound
from ..records.result import Grade, Record
from ..report.text import LIMITS

Span = tuple[str, str]  # text, style
Line = list[Span]

STYLES = {
    "": "", "bold": "bold", "dim": "dim", "bad": "bold red",
    "correctly_rounded": "bold green", "faithful": "green", "accurate": "cyan", "accurate_range": "yellow",
    "absolute": "magenta", "coarse": "red", "broken": "bold reverse red",
}  # fmt: skip
_NARROW = (
    *((f"{mark} ", mark) for mark in MARKS.values() if mark),
    *((f" {sign} ", sign) for sign in (">=", "<=")),
    *(("e+", "e"), ("e-0", "e-"), ("but for", "but"), (" inputs", ""), (" input", "")),
)
_SYMMETRIC = re.compile(r"-([\d.e-]+)<=x<=\1(?![\d.e])")
WORD = max(len(grade.word) for grade in GRADES.values())
NUMBER = 8  # '>=1.67e7'


def write(lines: Sequence[Line], stream: TextIO) -> None:
    """With colour on a terminal, as plain text elsewhere."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        stream.write(encodable(_joined(lines), stream))
        return
    from rich.console import Console  # slow to import, and of no use in a pipe
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*((encodable(text, stream), STYLES[style]) for text, style in line)))


def encodable(text: str, stream: TextIO) -> str:
    """The text, with marks in ASCII where the stream cannot hold others."""
    try:
        MARKS["="].encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return _in_ascii(text)
    return text


def plain(lines: Sequence[Line]) -> str:
    """The lines as text in ASCII, without styles."""
    return _in_ascii(_joined(lines))


def _in_ascii(text: str) -> str:
    return text.replace(MARKS["="], "*").replace(MARKS[">="], "~")


def _joined(lines: Sequence[Line]) -> str:
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False) or [""]


def labelled(label: str, style: str, text: str, width: int) -> Iterator[Line]:
    """The text after its label, wrapped; what follows the first line is indented."""
    indent = " " * (len(label) + 1)
    first, *rest = textwrap.wrap(
        text, max(width, 40), initial_indent=indent, subsequent_indent="  ", break_on_hyphens=False
    )
    yield [(label, style), (first[len(label) :], "")]
    yield from ([(part, "")] for part in rest)


def word(grade: Grade | None) -> str:
    """The grade where columns are narrow."""
    return GRADES[grade].word if grade else "-"


def grade_span(record: Record) -> Span:
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


def shortened(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 2] + ".."
