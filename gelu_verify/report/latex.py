"""The tables of a report for a paper: LaTeX with booktabs, one table for each function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ..records.grades import GRADES
from ..records.result import Grade
from . import text
from .frames import RunLike
from .matrix import Cells, matrices
from .rows import Group

_SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
    }
)
_HEAD = "% Made by `gelu-verify report`; needs \\usepackage{booktabs}. The grades:\n"
_CAPTION = r"Largest error in ULP ($=$: every input was tried, $\ge$: the largest error found) and grade"
MARKS: dict[Grade | None, str] = {
    "correctly_rounded": "CR",
    "faithful": "F",
    "accurate": "A",
    "accurate_range": "R",
    "absolute": "S",
    "coarse": "C",
    "broken": "B",
    None: "?",
}


def latex(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """One table for each function: targets by dtypes, each cell the largest error and the mark of its grade."""
    legend = "".join(f"%   {MARKS[grade]:<2}  {found.title}: {found.text}\n" for grade, found in GRADES.items())
    tables = [_table(function, dtypes, rows) for function, dtypes, rows in matrices(frames["summary"])]
    return _HEAD + legend + "\n" + "\n".join(tables)


def escaped(line: str) -> str:
    """Text that LaTeX prints as it is."""
    return line.translate(_SIGNS)


def _table(function: str, dtypes: Sequence[str], rows: Cells) -> str:
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{\texttt{{{escaped(function)}}}. {_CAPTION}: {_marks(rows)}.}}",
        rf"\begin{{tabular}}{{l{'rl' * len(dtypes)}}}",
        r"\toprule",
        " & ".join(["target", *(rf"\multicolumn{{2}}{{c}}{{{escaped(name)}}}" for name in dtypes)]) + r" \\",
        r"\midrule",
        *(
            " & ".join([escaped(name), *(_cell(by.get(dtype)) for dtype in dtypes)]) + r" \\"
            for name, by in rows.items()
        ),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _marks(rows: Cells) -> str:
    """What the marks of a table mean."""
    found = {row["grade"] for by in rows.values() for row in by.values()}
    return ", ".join(
        f"{mark} {GRADES[grade].title if grade else 'not graded'}" for grade, mark in MARKS.items() if grade in found
    )


def _cell(row: Group | None) -> str:
    """Two cells: the error, and the mark of the grade."""
    if row is None:
        return " & "
    if row["max_ulp"] is None:
        return f"-- & {MARKS[row['grade']]}"
    sign = "=" if row["bound"] == "=" else r"\ge"
    number, _, exponent = text.ulp_text(row["max_ulp"], row["bound"]).partition("e")
    size = r"\infty" if number == "inf" else number + (rf" \cdot 10^{{{exponent}}}" if exponent else "")
    return f"${sign} {size}$ & {MARKS[row['grade']]}"
