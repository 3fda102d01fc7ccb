"""Styled lines of text: colour on a terminal, plain ASCII elsewhere."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from ..records.grades import MARKS
from ..records.result import Grade, Record
from ..report.text import LIMITS, ulp_text

Span = tuple[str, str]  # text, style
Line = list[Span]

STYLES = {
    "": "", "bold": "bold", "dim": "dim", "bad": "bold red",
    "correctly_rounded": "bold green", "faithful": "green", "accurate": "cyan", "accurate_range": "yellow",
    "absolute": "magenta", "coarse": "red", "broken": "bold reverse red",
}  # fmt: skip
WORDS: dict[Grade | None, str] = {  # where columns are narrow
    "correctly_rounded": "correct",
    "faithful": "faithful",
    "accurate": "accurate",
    "accurate_range": "range",
    "absolute": "absolute",
    "coarse": "coarse",
    "broken": "BROKEN",
    None: "-",
}
WORD = max(map(len, WORDS.values()))
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
    return text.replace(MARKS["="], "*").replace(MARKS[">="], "o")


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


def mark(record: Record) -> str:
    """What the grade stands on, in one column: filled where every input was tried."""
    return MARKS[record.grade_bound] or " "


def grade_span(record: Record, width: int = WORD) -> Span:
    """The grade in one word."""
    return f"{mark(record)}{WORDS[record.grade]}".ljust(width + 1), record.grade or "dim"


def number(error: float | None, bound: str) -> str:
    """An error in few columns: '>0.5' where it is so little above 0.5 that the digits do not fit."""
    if error is None:
        return "n/a"
    text = f"{bound}{ulp_text(error, bound, 2 if error >= 1e10 else 3)}"
    limit = max((limit for limit in LIMITS if limit < error), default=0)
    return text if len(text) <= NUMBER or error >= 10 else f">{limit}"


def shortened(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 2] + ".."
