"""The tables of a report for a paper: LaTeX, one table for each function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from ..records.grades import GRADES, MARKS
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
        '"': r"\char34{}",  # \textquotedbl is not in OT1
    }
)
_HEAD = "% Made by `gelu-verify report`; needs \\usepackage{booktabs,longtable}. The grades:\n"
_CAPTION = r"Largest error in ULP ($=$: every input was tried, $\ge$: the largest error found) and grade "
_CAPTION += r"($\bullet$: every input was tried, $\circ$: from a sample)"
_SMALL = r"\footnotesize\setlength{\tabcolsep}{3pt}"
_ON_A_PAGE = 45  # rows; a longer table is no float
_SYMBOLS = {
    MARKS["="]: r"$\bullet$",
    MARKS[">="]: r"$\circ$",
    GRADES["broken"].letter: r"$\times$",
    ">=": r"$\ge$",
    "<=": r"$\le$",
    " -": " $-$",
    "e-": "e$-$",
}


def latex(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """One table for each function: targets by dtypes, each cell the largest error and the mark of its grade."""
    legend = "".join(f"%   {_letter(grade):<8}  {found.title}: {found.text}\n" for grade, found in GRADES.items())
    tables = [_table(function, dtypes, rows) for function, dtypes, rows in matrices(frames["summary"])]
    return _HEAD + legend + "\n" + "\n".join(tables)


def escaped(line: str) -> str:
    """Text that LaTeX prints as it is; what is not ASCII is shown by its code."""
    return line.encode("ascii", "backslashreplace").decode().translate(_SIGNS)


def _table(function: str, dtypes: Sequence[str], rows: Cells) -> str:
    columns = f"{{l{'rl' * len(dtypes)}}}"
    caption = rf"\caption{{\texttt{{{escaped(function)}}}. {_CAPTION}: {_marks(rows)}.}}"
    head = ["target", *(rf"\multicolumn{{2}}{{c}}{{{escaped(name)}}}" for name in dtypes)]
    heading = [r"\toprule", _row(head), r"\midrule"]
    body = [_row([escaped(name), *(_cell(by.get(dtype)) for dtype in dtypes)]) for name, by in rows.items()]
    if len(rows) <= _ON_A_PAGE:
        tabular = [rf"\begin{{tabular}}{columns}", *heading, *body, r"\bottomrule", r"\end{tabular}"]
        lines = [r"\begin{table}", rf"\centering{_SMALL}", caption, *tabular, r"\end{table}"]
    else:
        ends = [r"\endhead", r"\bottomrule", r"\endfoot"]
        long = [rf"\begin{{longtable}}{columns}", caption + r" \\", *heading, *ends, *body, r"\end{longtable}"]
        lines = [rf"\begingroup{_SMALL}", *long, r"\endgroup"]
    return "\n".join((*lines, *_ranges(rows))) + "\n"


def _ranges(rows: Cells) -> Iterator[str]:
    """Where the results with that grade are accurate."""
    found = [(name, row) for name, by in rows.items() for row in by.values() if row["grade"] == "accurate_range"]
    if found:
        texts = (rf"\texttt{{{escaped(name)}}} {escaped(row['dtype'])} {_symbols(row['claim'])}" for name, row in found)
        yield rf"\par{{\footnotesize {_letter('accurate_range')}: {'; '.join(texts)}.\par}}"


def _symbols(text: str) -> str:
    """The text with its signs as LaTeX has them."""
    for sign, symbol in _SYMBOLS.items():
        text = text.replace(sign, symbol)
    return text


def _letter(grade: Grade | None) -> str:
    return _symbols(GRADES[grade].letter) if grade else "?"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _marks(rows: Cells) -> str:
    """What the marks of a table mean."""
    found = {row["grade"] for by in rows.values() for row in by.values()}
    return ", ".join(
        f"{_letter(grade)} {GRADES[grade].title if grade else 'not graded'}"
        for grade in (*GRADES, None)
        if grade in found
    )


def _cell(row: Group | None) -> str:
    """Two cells: the error, and the mark of the grade."""
    if row is None:
        return " & "
    if row["max_ulp"] is None:
        return f"-- & {_mark(row)}"
    sign = "=" if row["bound"] == "=" else r"\ge"
    number, _, exponent = text.ulp_text(row["max_ulp"], row["bound"]).partition("e")
    size = r"\infty" if number == "inf" else number + (rf" \cdot 10^{{{exponent}}}" if exponent else "")
    return f"${sign} {size}$ & {_mark(row)}"


def _mark(row: Group) -> str:
    """The grade, marked by what it stands on."""
    return _symbols(MARKS[row["grade_bound"]]) + _letter(row["grade"])
