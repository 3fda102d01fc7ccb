"""The tables of a report for a paper: one for each function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from ..records.grades import GRADES, MARKS
from ..records.parts import Grade
from ..show.document import Block, Heading, Inline, Marked, Text, TextTable
from ..show.latex import NEEDS, inline, of_blocks
from . import text
from .frames import RunLike
from .matrix import Cells, matrices
from .rows import Group

_CAPTION = (
    "Largest error in ULP (=: every input was tried, \N{GREATER-THAN OR EQUAL TO}: the largest error found) and grade "
    f"({MARKS['=']}: every input was tried, {MARKS['>=']}: from a sample)"
)


def latex(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """One table for each function: targets by dtypes, each cell the largest error and the mark of its grade."""
    legend = "".join(f"%   {inline(found.letter):<8}  {found.title}: {found.text}\n" for found in GRADES.values())
    head = f"% Made by `gelu-verify report`; {NEEDS}. The grades:\n{legend}"
    return f"{head}\n{of_blocks(list(_blocks(frames['summary'])))}"


def _blocks(summary: pd.DataFrame) -> Iterator[Block]:
    for function, dtypes, rows in matrices(summary):
        columns = [each for name in dtypes for each in (Heading(name, is_number=True), Heading(""))]
        cells = [[name, *(cell for dtype in dtypes for cell in _cells(by.get(dtype)))] for name, by in rows.items()]
        yield TextTable(["target", *columns], cells, (Marked(function, "code"), f". {_CAPTION}: {_marks(rows)}."))
        if ranges := list(_ranges(rows)):
            yield Text((f"{_letter('accurate_range')}: ", *ranges[:-1], "."), "note")


def _ranges(rows: Cells) -> Iterator[str | Marked]:
    """Where the results with that grade are accurate, with what separates them."""
    for name, by in rows.items():
        for row in by.values():
            if row["grade"] == "accurate_range":
                yield from (Marked(name, "code"), f" {row['dtype']} {row['claim']}", "; ")


def _letter(grade: Grade | None) -> str:
    return GRADES[grade].letter if grade else "?"


def _marks(rows: Cells) -> str:
    """What the marks of a table mean."""
    found = {row["grade"] for by in rows.values() for row in by.values()}
    return ", ".join(
        f"{_letter(grade)} {GRADES[grade].title if grade else 'not graded'}"
        for grade in (*GRADES, None)
        if grade in found
    )


def _cells(row: Group | None) -> tuple[Inline, Inline]:
    """The error, and the grade, marked by what it stands on."""
    if row is None:
        return "", ""
    error = text.NONE if row["max_ulp"] is None else f"{row['bound']} {text.ulp_text(row['max_ulp'], row['bound'])}"
    return error, f"{MARKS[row['grade_bound']]}{_letter(row['grade'])}"
