"""A document as lines for a terminal: colour on a terminal, plain ASCII elsewhere."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TextIO

from ..errors import printable
from ..records.grades import MARKS
from .document import (
    Block,
    Definitions,
    Details,
    Document,
    Figures,
    Inline,
    Items,
    Listing,
    Section,
    Text,
    TextTable,
    is_empty,
    plain,
    spans,
)

Line = list[tuple[str, str]]  # text and style

STYLES = {
    "": "", "bold": "bold", "dim": "dim", "soft": "dim", "code": "", "breakable": "",
    "bad": "bold red", "good": "green", "warn": "yellow",
    "correctly_rounded": "bold green", "faithful": "green", "accurate": "cyan", "accurate_range": "yellow",
    "absolute": "magenta", "coarse": "red", "broken": "bold reverse red",
}  # fmt: skip


def write(lines: Sequence[Line], stream: TextIO) -> None:
    """With colour on a terminal, as plain text elsewhere."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        stream.write(encodable(_joined(lines), stream))
        return
    from rich.console import Console  # slow to import, and of no use in a pipe
    from rich.text import Text as Styled

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Styled.assemble(*((encodable(text, stream), STYLES[style]) for text, style in line)))


def encodable(text: str, stream: TextIO) -> str:
    """The text, with marks in ASCII where the stream cannot hold others."""
    try:
        MARKS["="].encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return _in_ascii(text)
    return text


def in_ascii(lines: Sequence[Line]) -> str:
    """The lines as text in ASCII, without styles."""
    return _in_ascii(_joined(lines))


def _in_ascii(text: str) -> str:
    return text.replace(MARKS["="], "*").replace(MARKS[">="], "~").replace("\u2013", "-")


def _joined(lines: Sequence[Line]) -> str:
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False) or [""]


def shortened(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 2] + ".."


def labelled(label: str, style: str, text: str, width: int) -> Iterator[Line]:
    """The text after its label, wrapped; what follows the first line is indented."""
    indent = " " * (len(label) + 1)
    first, *rest = textwrap.wrap(
        text, max(width, 40), initial_indent=indent, subsequent_indent="  ", break_on_hyphens=False
    )
    yield [(label, style), (first[len(label) :], "")]
    yield from ([(part, "")] for part in rest)


# ---- blocks --------------------------------------------------------------------------------------


def document_lines(document: Document, width: int) -> Iterator[Line]:
    """The blocks, and the headline where a reader looks first: at the end."""
    return lines_of([*document.blocks, Text(document.headline, "bold")], width)


def lines_of(blocks: Sequence[Block], width: int) -> Iterator[Line]:
    """The blocks one after the other."""
    shown = (block for block in blocks if not is_empty(block))
    return chain.from_iterable(_WRITERS[type(block)](block, width) for block in shown)


def _text(block: Text, width: int) -> Iterator[Line]:
    style = "dim" if block.mark in ("lead", "note") else block.mark
    for line in plain(block.text).split("\n"):
        yield from ([(part, style)] for part in wrapped(printable(line), width))


def _list(block: Items, width: int) -> Iterator[Line]:
    for text in block.texts:
        for line in plain(text).split("\n"):
            yield from _indented(line, width)


def _indented(text: str, width: int) -> Iterator[Line]:
    """Indented by two, and what follows the first line by four."""
    own = " " * (2 + len(text) - len(text.lstrip()))
    for part in textwrap.wrap(
        printable(text.lstrip()), max(width, 40), initial_indent=own, subsequent_indent=own + "  ",
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        yield [(part, "")]


def _facts(block: Definitions, width: int) -> Iterator[Line]:
    longest = max((len(name) for name, _ in block.pairs), default=0)
    for name, text in block.pairs:
        for at, line in enumerate(plain(text).split("\n")):
            yield from _indented(f"{name if at == 0 else '':<{longest}} {line}", width)


def table_lines(block: TextTable, width: int) -> Iterator[Line]:
    """As wide as its texts; numbers stand on the right."""
    columns, rows = block.shown()
    texts = [[plain(each.title) for each in columns], *([_on_one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    sides = [str.rjust if each.is_number else str.ljust for each in columns]
    styles: list[Sequence[str]] = [["dim"] * len(columns), *([_style(cell) for cell in row] for row in rows)]
    for cells, own in zip(texts, styles, strict=True):
        padded = [side(text, size) for side, text, size in zip(sides, cells, widths, strict=True)]
        yield [
            (f" {padded[0]}", own[0]),
            *((f"  {text}", style) for text, style in zip(padded[1:], own[1:], strict=True)),
        ]


def _on_one_line(cell: Inline) -> str:
    return printable(" ".join(plain(cell).split("\n")))


def _style(cell: Inline) -> str:
    """Of a cell that is marked as a whole."""
    return found[0].mark if len(found := spans(cell)) == 1 else ""


def _section(block: Section, width: int) -> Iterator[Line]:
    yield from ([(part, "bold")] for part in wrapped(printable(plain(block.title)), width))
    yield from lines_of(block.blocks, width)


def _fold(block: Details, width: int) -> Iterator[Line]:
    yield [(block.title, "dim")]
    yield from lines_of(block.blocks, width)


def _code(block: Listing, width: int) -> Iterator[Line]:
    yield from ([(printable(line), "")] for line in block.text.splitlines())


def _figures(block: Figures, width: int) -> Iterator[Line]:
    """A terminal shows no charts."""
    return iter(())


_WRITERS: dict[type, Callable[..., Iterator[Line]]] = {
    Text: _text, Items: _list, Definitions: _facts, TextTable: table_lines, Section: _section, Details: _fold,
    Listing: _code, Figures: _figures,
}  # fmt: skip
