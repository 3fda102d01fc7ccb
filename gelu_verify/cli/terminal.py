"""What a run prints at its end: readable in 80 columns, without colour and in plain ASCII."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from ..errors import printable
from ..records.accurate_range import ALONE
from ..records.claims import NO_GRADE
from ..records.grades import MARKS
from ..records.result import Record
from ..report.verdicts import headline
from ..show.terminal import Line, labelled, wrapped, write
from .matrix import detail_lines
from .ranking import ranking_lines

SCREEN = 39  # lines, and one for the prompt
_LEGEND = (
    f"accurate: within 4 ULP; range: for these x, !: but for 1 in {ALONE:,} at most (docs/grades.md; what "
    "it does in a network: docs/study.md). "
    f"{MARKS['=']} all inputs tried, {MARKS['>=']} from a sample. "
    "ULP: >= the largest found, = of all inputs. "
    "[...]: by convention."
)


def print_results(
    results: Sequence[Record],
    *,
    absent: Mapping[str, str] | None = None,
    asked: bool = False,
    details: bool = False,
    file: TextIO | None = None,
) -> None:
    """Print what was found on `file` (default stdout): with colour on a terminal, as plain text elsewhere."""
    width = shutil.get_terminal_size().columns
    write(result_lines(results, absent=absent, asked=asked, details=details, width=width), file or sys.stdout)


def result_lines(
    results: Sequence[Record],
    *,
    absent: Mapping[str, str] | None = None,
    asked: bool = False,
    details: bool = False,
    width: int = 80,
) -> list[Line]:
    """
    Parameters
    ----------
    absent : {family or path: why it was not measured}
    asked : whether these were named: then each is listed with its reason
    details : every result with its failed checks and its sentence, instead of one screen
    """
    end: list[Line] = []
    if results:
        unknown = f" -: {NO_GRADE}." if any(r.grade is None for r in results) else ""
        end += [[(part, "dim")] for part in wrapped(_LEGEND + unknown, width)]
    for what in dict.fromkeys(r.executed for r in results if r.executed):
        names = ", ".join(dict.fromkeys(r.target for r in results if r.executed == what))
        end += [[(part, "bold")] for part in wrapped(f"executed: {what}, no GPU: {names}", width)]
    end += [[(part, "bold")] for part in wrapped(headline(results, brief=not details), width)]
    if details:
        lines = [*detail_lines(results, absent or {}, width), *end]
    else:
        end = [*_absence_lines(absent or {}, asked, width), *end]
        lines = [*(ranking_lines(results, width, SCREEN - len(end)) if results else ()), *end]
    return [[(printable(text), style) for text, style in line] for line in lines]


def _absence_lines(absent: Mapping[str, str], asked: bool, width: int) -> Iterator[Line]:
    """Why what was asked for was not measured; of all else only that it was not."""
    if asked:
        for name, reason in absent.items():
            yield from labelled("not measured", "dim", f"{name}: {reason}", width)
    elif absent:
        yield from labelled("not measured:", "dim", f"{', '.join(absent)} (--details says why)", width)
