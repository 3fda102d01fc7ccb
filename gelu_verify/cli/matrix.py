"""Every result of a run: `run --details`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from ..records.ranking import worst_first
from ..records.result import Record
from ..report.calls import blocks
from ..report.verdicts import GROUPS, dtype_rank, function_rank, group_of, target_order
from ..show.terminal import Line, labelled, lines_of, wrapped
from .lines import NUMBER, WORD, grade_span, number
from .ranking import sentence_lines

_CELL = 1 + NUMBER + 1 + WORD
_NAMES = (8, 44)  # columns for names: at least, and the most they get


def detail_lines(results: Sequence[Record], absent: Mapping[str, str], width: int) -> Iterator[Line]:
    """The calls of libraries, a table for each function (rows: targets, columns: dtypes), all sentences, failures and
    absences."""
    yield from lines_of(blocks(results), width)
    dtypes = sorted({r.dtype for r in results}, key=lambda name: (dtype_rank(name), name))
    ordered = sorted(results, key=lambda r: (function_rank(r.function), r.function))
    for function, members in groupby(ordered, key=lambda r: r.function):
        yield from _function_lines(function, list(members), dtypes, width)
    yield from sentence_lines(worst_first(results), width)
    failures = [r for r in results if r.failure is not None]
    for r in failures:
        label = r.failure_kind or "crashed"
        yield from labelled(label, "bad", f"{r.target} {r.function} {r.dtype}: {r.failure}", width)
    for name, reason in absent.items():
        yield from labelled("not measured", "dim", f"{name}: {reason}", width)


def _function_lines(function: str, results: list[Record], dtypes: list[str], width: int) -> Iterator[Line]:
    name_width = min(max(width - _CELL * len(dtypes), _NAMES[0]), _NAMES[1])
    yield [(function.ljust(name_width), "bold"), *((_column(dtype), "dim") for dtype in dtypes)]
    for group in GROUPS:
        members = sorted(
            (r for r in results if group_of(r) == group), key=lambda r: (*target_order(r.family, r.target), r.dtype)
        )
        if members and group != "library":
            yield [(f" {GROUPS[group]}", "dim")]
        for target, cells in groupby(members, key=lambda r: r.target):
            by_dtype = {r.dtype: r for r in cells}
            name = " " + target
            if len(name) > name_width:
                yield [(name, "")]
                name = ""
            yield [(name.ljust(name_width), ""), *(span for d in dtypes for span in _cell(by_dtype.get(d)))]
            yield from _check_lines(list(by_dtype.values()), width)
    yield []


def _cell(result: Record | None) -> Line:
    if result is None:
        return [(_column("-"), "dim")]
    error = number(result.max_ulp, result.bound)
    if result.max_ulp is None and result.failure is not None:
        kind = result.failure_kind or "crashed"
        return [(_column(kind if len(kind) < _CELL else "failed"), "bad")]
    return [(f" {error:>{NUMBER}}", ""), grade_span(result)]


def _column(text: str) -> str:
    return f" {text:>{NUMBER}}".ljust(_CELL)


def _check_lines(results: list[Record], width: int) -> Iterator[Line]:
    """The checks that failed in any dtype, once per target."""
    names = dict.fromkeys(name for r in results for name in r.failed_checks)
    if names:
        yield from ([("   " + part, "dim")] for part in wrapped("fails " + ", ".join(names), width - 3))
