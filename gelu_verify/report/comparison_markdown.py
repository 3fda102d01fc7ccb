"""A comparison as GitHub-flavoured Markdown: for a pull request or a CI step summary (under 1 MB)."""

from __future__ import annotations

from collections.abc import Iterator

from ..compare.comparison import Comparison, ResultComparison
from ..errors import printable
from .comparison_text import (
    LISTED,
    WORDS,
    bits_text,
    change_lines,
    difference_text,
    names,
    run_text,
    speed_text,
    summary,
    title,
)
from .markdown_blocks import LIMIT, escape, folded, size_of, table
from .text import NONE

_OPEN = 12  # changes of a result that are not folded


def comparison_markdown(found: Comparison) -> str:
    """Summary and table first; then every change, result by result, as far as there is room."""
    whole = [
        "# gelu-verify: what changed\n",
        f"**{escape(summary(found))}**\n",
        f"- old: {escape(run_text(found.old))}\n- new: {escape(run_text(found.new))}\n",
        _differences(found),
        _overview(found),
    ]
    for status in LISTED:
        members = found.of_status(status)
        if members:
            whole.append(folded(f"{WORDS[status]}: {len(members)}", escape(names(members)) + "\n"))
    size, left_out = sum(map(size_of, whole)), 0
    for section in filter(None, map(_section, found.results)):
        size += size_of(section)
        if size > LIMIT:
            left_out += 1
        else:
            whole.append(section)
    if left_out:
        whole.append(f"_{left_out} results were left out because of their size: --format json and html have them._\n")
    return "\n".join(filter(None, whole))


def _differences(found: Comparison) -> str:
    texts = "".join(f"- {escape(difference_text(each))}\n" for each in found.differences)
    return f"The runs also differ in:\n\n{texts}" if texts else ""


def _overview(found: Comparison) -> str:
    rows = [_row(each) for each in found.results if each.status not in LISTED]
    return table(["", "result", "inputs with other results", "speed"], rows)


def _row(result: ResultComparison) -> list[str]:
    speed = result.speed.text if result.speed else NONE
    return [WORDS[result.status], title(result), bits_text(result.bits), speed]


def _section(result: ResultComparison) -> str:
    if not result.changes:
        return ""
    lines = list(_lines(result))
    text = "".join(lines[:_OPEN])
    rest = folded(f"{len(lines) - _OPEN} more changes", "".join(lines[_OPEN:])) if len(lines) > _OPEN else ""
    repeat = f"    {printable(result.repeat)}\n" if result.repeat else ""
    return f"### {escape(title(result))}\n\n{text}\n{rest}\n{repeat}"


def _lines(result: ResultComparison) -> Iterator[str]:
    for change in result.changes:
        first, *rest = change_lines(result, change)
        more = "".join(f"<br>{escape(line)}" for line in rest)
        yield f"- {change.direction}: {escape(first)}{more}\n"
    if (speed := speed_text(result)) is not None:
        yield f"- {escape(speed)}\n"
