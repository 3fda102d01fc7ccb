"""A document: blocks that say what is shown, and nothing of how; each module beside this one renders them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .chart import Chart


@dataclass(frozen=True)
class Marked:
    """A part of a text.

    Parameters
    ----------
    mark : how it stands out: "bold", "soft", "code", "good", "bad", "warn"; "breakable" is a name that may be broken
    link : the id of a section of the same document
    """

    text: str
    mark: str = ""
    link: str = ""


Inline = str | Marked | tuple[str | Marked, ...]  # a line break in it is one wherever it is shown


def spans(inline: Inline) -> tuple[Marked, ...]:
    """The parts of a text."""
    parts = inline if isinstance(inline, tuple) else (inline,)
    return tuple(Marked(part) if isinstance(part, str) else part for part in parts)


def plain(inline: Inline) -> str:
    """The text alone."""
    return "".join(part.text for part in spans(inline))


@dataclass(frozen=True)
class Text:
    """A paragraph; "lead" and "note" as `mark` stand back beside what they explain, "bold" stands out."""

    text: Inline
    mark: str = ""


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[Inline]


@dataclass(frozen=True)
class Definitions:
    """Names and what is said of each."""

    pairs: Sequence[tuple[str, Inline]]


@dataclass(frozen=True)
class Heading:
    """A column: numbers stand on the right, long texts are wrapped; an optional one that is empty is left out."""

    title: Inline
    is_number: bool = False
    is_long: bool = False
    is_optional: bool = False


@dataclass(frozen=True)
class TextTable:
    """Rows under columns; `title` is for those who cannot see it. Nothing is shown of a table without rows."""

    columns: Sequence[Heading | str]
    rows: Sequence[Sequence[Inline]]
    title: Inline = ""

    def shown(self) -> tuple[list[Heading], list[list[Inline]]]:
        """Columns and rows, without the columns that are left out."""
        columns = [each if isinstance(each, Heading) else Heading(each) for each in self.columns]
        kept = [
            place
            for place, column in enumerate(columns)
            if not column.is_optional or any(plain(row[place]) for row in self.rows)
        ]
        return [columns[place] for place in kept], [[row[place] for place in kept] for row in self.rows]


@dataclass(frozen=True)
class Figures:
    """Charts beside each other."""

    charts: Sequence[Chart]


@dataclass(frozen=True)
class Listing:
    """A command, or other text that is copied as it is."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Details:
    """What a click opens; nothing is shown of an empty one."""

    title: str
    blocks: Sequence[Block]
    is_open: bool = False


@dataclass(frozen=True)
class Section:
    """Blocks under a heading; nothing is shown where all of them are empty."""

    title: Inline
    blocks: Sequence[Block]
    id: str = ""


Block = Text | Items | Definitions | TextTable | Figures | Listing | Details | Section


@dataclass(frozen=True, kw_only=True)
class Document:
    """A title for the window, one sentence that says the most, and the blocks."""

    title: str
    headline: str
    blocks: Sequence[Block]


def listed(texts: Sequence[Inline], most: int, what: str = "more") -> list[Block]:
    """A list whose first items are open; "22 more" are folded."""
    rest = texts[most:]
    return [Items(texts[:most]), *([Details(f"{len(rest)} {what}", [Items(rest)])] if rest else [])]


def is_empty(block: Any) -> bool:
    """Whether nothing is shown of a block."""
    if isinstance(block, Details | Section):
        return all(map(is_empty, block.blocks)) and (isinstance(block, Details) or bool(block.blocks))
    content = next(iter(vars(block).values())) if not isinstance(block, TextTable) else block.rows
    return not content
