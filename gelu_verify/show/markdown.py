"""A document as GitHub-flavoured Markdown, not longer than what GitHub accepts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ..errors import printable
from .document import (
    Block,
    Definitions,
    Details,
    Document,
    Figures,
    Inline,
    Items,
    Listing,
    Marked,
    Section,
    Text,
    TextTable,
    is_empty,
    spans,
)

LIMIT = 900_000  # bytes; GitHub refuses a step summary above 1 MiB
LEFT_OUT = "{} parts were left out because of their size."


def markdown(document: Document, limit: int = LIMIT, left_out: str = LEFT_OUT) -> str:
    """Section by section, as far as there is room; `left_out` says how many have none. Empty where nothing fits."""
    head = [f"# gelu-verify: {document.title}\n"] if document.title else []
    head += [f"**{escape(document.headline)}**\n"] if document.headline else []
    return "\n".join(fitting([*head, *_parts(document.blocks, 2)], limit, left_out))


def of_blocks(blocks: Sequence[Block], level: int = 2) -> str:
    """Blocks, whatever their size; a section begins with a heading of that level."""
    return "\n".join(_parts(blocks, level))


def fitting(parts: Sequence[str], limit: int, left_out: str) -> list[str]:
    """Those parts that fit, one after the other, and how many do not; nothing where the first does not."""
    say = f"_{left_out}_\n".format
    if sum(map(_size, parts)) <= limit:
        return list(parts)
    room, kept = limit - _size(say(len(parts))), list[str]()
    for part in parts:
        if (room := room - _size(part)) < 0:
            if not kept:
                return []
            room += _size(part)
        else:
            kept.append(part)
    return [*kept, say(len(parts) - len(kept))]


def _size(text: str) -> int:
    """Bytes as it is written, with the line break after it."""
    return len(text.encode(errors="backslashreplace")) + 1


def escape(line: str) -> str:
    """Text that stays text, also in a table."""
    line = printable(" ".join(line.split())).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([|*_`])", r"\\\1", line)


def inline(text: Inline, in_table: bool = False) -> str:
    """A text on one line."""
    return "".join(_code_span(each.text, in_table) if each.mark == "code" else _span(each) for each in spans(text))


def _code_span(text: str, in_table: bool) -> str:
    line, fence = printable(" ".join(text.split())), "``" if "`" in text else "`"
    return f"{fence}{line.replace('|', chr(92) + '|') if in_table else line}{fence}" if line else ""


def _span(span: Marked) -> str:
    if not span.text.strip():
        return span.text
    inner = "<br>".join(map(escape, span.text.split("\n")))
    marked = f"**{inner}**" if span.mark in ("bold", "bad") else inner
    # spaces at its ends separate it from its neighbours
    return f"{' ' * span.text.startswith(' ')}{marked}{' ' * span.text.endswith(' ')}"


def _parts(blocks: Sequence[Block], level: int) -> Iterator[str]:
    """What stands for itself, so that it can be left out: a section with what it begins with, each section in it, a
    block that stands alone."""
    for block in blocks:
        if is_empty(block):
            continue
        if isinstance(block, Section):
            opening = _opening(block)
            texts = [text for each in block.blocks[:opening] if (text := _text(each, level))]
            if texts or opening < len(block.blocks) or not block.blocks:
                yield "\n".join((f"{'#' * level} {inline(block.title)}\n", *texts))
            yield from _parts(block.blocks[opening:], level + 1)
        elif text := _text(block, level):
            yield text


def _opening(section: Section) -> int:
    """How many of its blocks stay with the heading: all, where there are no sections in it."""
    apart = [place for place, each in enumerate(section.blocks) if isinstance(each, Section | Details)]
    has_sections = any(isinstance(each, Section) for each in section.blocks)
    return apart[0] if apart and (has_sections or apart[0] == 0) else len(section.blocks)


def _text(block: Block, level: int) -> str:
    return "" if is_empty(block) else _WRITERS[type(block)](block, level)


def table(block: TextTable, level: int = 0) -> str:
    """A table; empty without rows."""
    if not block.rows:
        return ""
    columns, rows = block.shown()
    lines = [[inline(each.title, True) for each in columns], ["---:" if each.is_number else "---" for each in columns]]
    lines += [[inline(cell, True) for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _paragraph(block: Text, level: int) -> str:
    text = inline(block.text)
    return f"**{text}**\n" if block.mark == "bold" else f"{text}\n"


def _list(block: Items, level: int) -> str:
    return "".join(f"- {inline(text)}\n" for text in block.texts)


def _facts(block: Definitions, level: int) -> str:
    return "".join(f"- {escape(name)}: {inline(text)}\n" for name, text in block.pairs)


def _code(block: Listing, level: int) -> str:
    """Between fences that the text does not have."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
    return f"{fence}{block.language}\n{chr(10).join(map(printable, block.text.splitlines()))}\n{fence}\n"


def _fold(block: Details, level: int) -> str:
    text = "\n".join(_parts(block.blocks, level + 1))
    return f"<details><summary>{escape(block.title)}</summary>\n\n{text}\n</details>\n" if text else ""


def _figures(block: Figures, level: int) -> str:
    """GitHub removes charts from Markdown."""
    return ""


_WRITERS: dict[type, Callable[..., str]] = {
    Text: _paragraph, Items: _list, Definitions: _facts, TextTable: table, Figures: _figures, Listing: _code,
    Details: _fold,
}  # fmt: skip
