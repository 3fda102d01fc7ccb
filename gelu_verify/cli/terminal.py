"""The verdict matrix on a terminal: readable in 80 columns, without colour and in plain ASCII."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TextIO

from ..errors import printable
from ..fenv import in_default_environment
from ..records.result import Record
from ..report.text import LIMITS, ulp_text
from ..report.verdicts import dtype_rank, function_rank, headline, target_order, verdict

Span = tuple[str, str]  # text, style: "" | "bold" | "dim" | "ok" | "bad"
Line = list[Span]

_NUMBER = 8  # '>=1.67e7'
_CELL = 1 + _NUMBER + len(" FAIL")
_NAMES = (24, 44)  # columns for names: what 80 columns leave beside four dtypes, and the most they get
_MARKS = {
    "pass": ("ok", "ok"),
    "inaccurate": ("~", "inaccurate"),
    "fail": ("FAIL", "bad"),
    "raised": ("crashed", "bad"),
}
_STYLES = {"": "", "bold": "bold", "dim": "dim", "ok": "green", "inaccurate": "yellow", "bad": "bold red"}
_LEGEND = (
    "Largest error in ULP: '=' every input was tried, '>=' the largest error found; 0.500 is correctly rounded.",
    "FAIL: a check failed; listed below the row. ~: every check passes, but inaccurate (> 4 ULP). ok: neither.",
)


def print_matrix(
    results: Sequence[Record], *, absent: Mapping[str, str] | None = None, file: TextIO | None = None
) -> None:
    """Print the verdicts on `file` (default stdout): with colour on a terminal, as plain text elsewhere."""
    stream = file or sys.stdout
    lines = matrix_lines(results, absent=absent, width=shutil.get_terminal_size().columns)
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        stream.write(plain(lines))
        return
    from rich.console import Console  # slow to import, and of no use in a pipe
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*((text, _STYLES[style]) for text, style in line)))


def plain(lines: Sequence[Line]) -> str:
    """The lines as text, without styles."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


@in_default_environment
def matrix_lines(results: Sequence[Record], *, absent: Mapping[str, str] | None = None, width: int = 80) -> list[Line]:
    """The headline, one table per function (rows: targets by framework, columns: dtypes), failures, absences."""
    dtypes = sorted({r.dtype for r in results}, key=lambda name: (dtype_rank(name), name))
    ranked = sorted(results, key=lambda r: (function_rank(r.function), r.function, target_order(r.family, r.target)))
    lines: list[Line] = []
    for function, members in groupby(ranked, key=lambda r: r.function):
        lines += _function_lines(function, list(members), dtypes, width)
    if results:
        lines += [[(part, "dim")] for text in _LEGEND for part in _wrapped(text, width)]
        lines.append([])
    lines += _failure_lines(ranked, absent or {}, width)
    lines += [[(part, "bold")] for part in _wrapped(headline(results), width)]
    return [[(printable(text), style) for text, style in line] for line in lines]


def _function_lines(function: str, results: list[Record], dtypes: list[str], width: int) -> Iterator[Line]:
    name_width = min(max(width - _CELL * len(dtypes), _NAMES[0]), _NAMES[1])
    yield [(function.ljust(name_width), "bold"), *((_column(dtype), "dim") for dtype in dtypes)]
    for family, members in groupby(results, key=lambda r: r.family):
        yield [(" " + family, "")]
        for target, cells in groupby(members, key=lambda r: r.target):
            by_dtype = {r.dtype: r for r in cells}
            name = "  " + target.removeprefix(family + ".")
            if len(name) > name_width:
                yield [(name, "")]
                name = ""
            yield [(name.ljust(name_width), ""), *(span for d in dtypes for span in _cell(by_dtype.get(d)))]
            yield from _check_lines(list(by_dtype.values()), width)
    yield []


def _cell(result: Record | None) -> Line:
    if result is None:
        return [(_column("-"), "dim")]
    word, style = _MARKS[verdict(result)]
    error, bound = result.max_ulp, result.bound
    if result.failure is not None:
        kind = result.failure_kind or word
        return [(_column(kind if len(kind) < _CELL else "failed"), style)]
    return [(f" {_number(error, bound):>{_NUMBER}} ", ""), (word.ljust(len("FAIL")), style)]


def _number(error: float | None, bound: str) -> str:
    """An error in few columns: '>0.5' where it is so little above 0.5 that the digits do not fit."""
    if error is None:
        return "n/a"
    number = f"{bound}{ulp_text(error, bound, 2 if error >= 1e10 else 3)}"
    limit = max((limit for limit in LIMITS if limit < error), default=0)
    return number if len(number) <= _NUMBER or error >= 10 else f">{limit}"


def _column(text: str) -> str:
    return f" {text:>{_NUMBER}}".ljust(_CELL)


def _check_lines(results: list[Record], width: int) -> Iterator[Line]:
    """The checks that failed in any dtype, once per target."""
    names = dict.fromkeys(name for r in results for name in r.failed_checks)
    if names:
        yield from ([("    " + part, "dim")] for part in _wrapped("fails " + ", ".join(names), width - 4))


def _failure_lines(results: Sequence[Record], absent: Mapping[str, str], width: int) -> Iterator[Line]:
    raised = [r for r in results if r.failure is not None]
    for r in raised:
        yield from _entry(r.failure_kind or "crashed", f"{r.target} {r.function} {r.dtype}: {r.failure}", width)
    for family, reason in absent.items():
        yield from _entry("not run", f"{family}: {reason}", width)
    if raised or absent:
        yield []


def _entry(label: str, text: str, width: int) -> Iterator[Line]:
    first, *rest = _wrapped(text, width - len(label) - 1)
    yield [(label + " ", "dim" if label == "not run" else "bad"), (first, "")]
    yield from ([(" " * (len(label) + 1) + part, "")] for part in rest)


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, max(width, 20)) or [""]
