"""Parts of GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import printable


def escaped(value: Any) -> str:
    """Text that stays text inside a Markdown table."""
    line = printable(" ".join(str(value).split())).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in "|*_`":
        line = line.replace(sign, "\\" + sign)
    return line


def table_of(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(escaped(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n" if text else ""
