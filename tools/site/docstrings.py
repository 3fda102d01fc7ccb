"""How docstrings are written here, as mkdocstrings reads them: doctests are code, `name : text` says what a name is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

_DOCTEST = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"([\w*]+(?:, [\w*]+)*) : (.+)")


class Docstrings(griffe.Extension):
    """Fences around paragraphs that begin with `>>>`; parameters have the types of the signature."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """A docstring for a reader of NumPy's style."""
    if "\nExamples\n---" not in text:
        text = _DOCTEST.sub(r"```pycon\n\g<0>\n```", text)
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    section = ""
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", following):
            section = line
        match = _ENTRY.fullmatch(line) if section == "Parameters" else None
        if match is None:
            yield line
            continue
        goes_on = bool(re.match(r"\s+[A-Z`]", following))
        text = f"    {match[2]}" + "." * (goes_on and not match[2].endswith((".", ",")))
        described = [text, *_indented(lines[place + 1 :])]
        for name in match[1].split(", ")[:-1]:  # each of several has the text
            yield from (name, *described)
        yield match[1].split(", ")[-1]
        yield text


def _indented(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith(" "):
            return
        yield line
