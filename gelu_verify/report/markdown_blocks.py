"""Tables and folded sections of GitHub-flavoured Markdown, and how large a page may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import printable

LIMIT = 900_000  # bytes; GitHub refuses a step summary above 1 MiB


def escape(value: Any) -> str:
    """Text that stays text inside a Markdown table."""
    line = printable(" ".join(str(value).split())).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in "|*_`":
        line = line.replace(sign, "\\" + sign)
    return line


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; empty without rows."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def folded(title: str, text: str) -> str:
    """A section that opens with a click; empty where the text is."""
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n" if text else ""


def size_of(text: str) -> int:
    """Bytes of a text as it is written."""
    return len(text.encode(errors="backslashreplace"))
