"""What a run found, on one screen: results ranked, and the worst of them in a sentence each.

The first of three tables that fits: each result; each library's best and worst path; how many results have which grade.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ..records.claims import grade_title, marked
from ..records.grades import GRADES, interval_text
from ..records.parts import Bound
from ..records.ranking import best_first, worst_first
from ..records.result import Record
from ..report.verdicts import (
    GROUPS,
    counts_text,
    dtype_rank,
    function_rank,
    group_of,
    interval_of,
    main_results,
)
from ..show.terminal import Line, labelled
from .lines import NUMBER, WORD, as_fit, grade_span, narrow, number, shortened, word

_NAMED = 3  # implementations that come with this package
_SENTENCES = 4  # lines that a table leaves for sentences, where there are many
_TITLES_FROM = 100  # columns from which grades are written out
_LIBRARY = 13  # columns for its name
_GRADE, _INTERVAL = "grade", "accurate for"
_NAMES = 20  # columns for names, at least
_FEW = 4  # columns for the count of results without a grade


def ranking_lines(results: Sequence[Record], width: int, height: int) -> Iterator[Line]:
    """The table, sentences as far as they fit, and what else was measured."""
    main = main_results(results)
    apart = list(_apart_lines(results, width))
    sentences = [list(lines) for lines in _sentences(worst_first(main), width)] if len(results) > 1 else []
    room = height - 1 - len(apart) - min(_SENTENCES, sum(map(len, sentences)))
    table: list[Line] = []
    for make in (_results, _libraries, _counts):
        table = list(make(main, width))
        if len(table) <= room:
            break
    yield from table
    yield []
    yield from as_fit(sentences, height - 1 - len(table) - len(apart), "sentence")
    yield from apart


def _sections(results: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    """("gelu float32", its results, the best first)."""

    def section(r: Record) -> tuple[int, str, int, str]:
        return function_rank(r.function), r.function, dtype_rank(r.dtype), r.dtype

    for (_, function, _, dtype), members in groupby(sorted(results, key=section), key=section):
        yield f"{function} {dtype}", best_first(members)


# ---- the tables ----------------------------------------------------------------------------------


def _results(results: Sequence[Record], width: int) -> Iterator[Line]:
    """One line for each result."""
    named = grade_title if width >= _TITLES_FROM else word
    grades = 2 + max(len(named(r.grade)) if r.grade else len(_GRADE) for r in results)
    intervals = max(len(_INTERVAL), *(len(_interval(r)) for r in results))
    names = max(width - grades - (intervals + 1) - (NUMBER + 1) - NUMBER, _NAMES)
    heads = f"{f' {_GRADE}'.ljust(grades)} {_INTERVAL.ljust(intervals)} {'max ULP':>{NUMBER}} {'max abs':>{NUMBER}}"
    for title, members in _sections(results):
        yield [(title.ljust(names), "bold"), (heads, "dim")]
        heads = ""
        for r in members:
            largest = f"{r.max_abs_error.error:.1e}" if r.max_abs_error else ""
            yield [
                (f" {shortened(r.target, names - 2)}".ljust(names), ""),
                ((narrow(marked(named(r.grade), r.grade_bound)) if r.grade else " -").ljust(grades), r.grade or "dim"),
                (f" {_interval(r).ljust(intervals)} {number(r.max_ulp, r.bound):>{NUMBER}} {largest:>{NUMBER}}", ""),
            ]


def _interval(record: Record) -> str:
    """Where it is accurate, in few columns."""
    if record.grade in ("correctly_rounded", "faithful", "accurate"):
        which = "every normal x" if any("subnormal" in each for each in record.conventions or ()) else "every x"
        return narrow(marked(which if record.ranges is None else f"{which} tried", record.grade_bound))
    if record.grade in ("absolute", "coarse"):
        return "-"
    return narrow(interval_of(record))


def _libraries(results: Sequence[Record], width: int) -> Iterator[Line]:
    """The best and the worst implementation of each library, for each function and dtype."""
    half = (width - _LIBRARY) // 2
    for title, members in _sections(results):
        head = title.ljust(_LIBRARY + 4)
        yield [(head, "bold"), ("best of each library".ljust(_LIBRARY + half - len(head)) + "worst of it", "dim")]
        families = dict.fromkeys(r.family for r in members)
        for family in families:
            own = [r for r in members if r.family == family]
            ends = own if len(own) == 1 else [own[0], own[-1]]
            yield [(_library(family), ""), *(span for r in ends for span in _path(r, half))]


def _library(family: str) -> str:
    return f" {shortened('your code' if family == 'callable' else family, _LIBRARY - 2)}".ljust(_LIBRARY)


def _path(record: Record, width: int) -> Line:
    """An implementation in a column: its name, its grade, and the number that ranks it."""
    names = width - (WORD + 2) - (NUMBER + 3)
    interval = _short_interval(record) if record.grade == "accurate_range" else ""
    value = interval if 0 < len(interval) <= NUMBER + 2 else number(record.max_ulp, record.bound)
    name = shortened(record.target.removeprefix(record.family + "."), names - 1).ljust(names)
    return [(name, ""), grade_span(record), (f" {value}".ljust(NUMBER + 4), "")]


def _short_interval(record: Record) -> str:
    """ "○x>=-1.82!": the mark says that there are exceptions."""
    found = record.accurate_range
    if found is None:
        return ""
    text = interval_text(record.dtype, replace(found, exceptions=None)).replace("every finite x", "all x")
    return narrow(marked(f"{text}{'!' * bool(found.exceptions)}", found.bound or record.bound))


def _counts(results: Sequence[Record], width: int) -> Iterator[Line]:
    """How many results of each library have which grade; the library with most that are accurate or better first."""
    grades = [*GRADES, *([None] if any(r.grade is None for r in results) else [])]
    columns = [WORD + 1 if grade else _FEW for grade in grades]
    heads = [(word(grade).rjust(column), "dim") for grade, column in zip(grades, columns, strict=True)]
    yield [(f"{len(results)} results".ljust(_LIBRARY), "bold"), *heads]
    families = [[r for r in results if r.family == family] for family in dict.fromkeys(r.family for r in results)]
    for members in sorted(families, key=_shortfall):
        cells = []
        for grade, column in zip(grades, columns, strict=True):
            text = _count(Counter(r.grade_bound for r in members if r.grade == grade))
            cells.append((f"{text or '-':>{column}}", (grade or "dim") if text else "dim"))
        yield [(_library(members[0].family), ""), *cells]


def _count(bounds: Mapping[Bound | None, int]) -> str:
    """ "●8 ○2": how many results of a grade are of all inputs, and how many of a sample."""
    return " ".join(narrow(marked(str(bounds[bound]), bound)) for bound in ("=", ">=", None) if bounds[bound])


def _shortfall(members: list[Record]) -> tuple[float, float]:
    """The share of a library's results that is not accurate, and the share that is broken."""
    wanting = sum(r.grade not in ("correctly_rounded", "faithful", "accurate") for r in members)
    return wanting / len(members), sum(r.grade == "broken" for r in members) / len(members)


# ---- sentences -----------------------------------------------------------------------------------


def sentence_lines(results: Sequence[Record], width: int) -> Iterator[Line]:
    """Results in a sentence each, in that order; those of a library that do the same share one."""
    for lines in _sentences(results, width):
        yield from lines


def _sentences(results: Sequence[Record], width: int) -> Iterator[Iterator[Line]]:
    same: dict[tuple[object, ...], list[Record]] = {}
    for r in results:
        same.setdefault((r.family, r.function, r.dtype, r.grade, r.grade_bound, r.sentence, r.conventions), []).append(
            r
        )
    for first, *others in same.values():
        if first.grade is not None:
            names = [first.target, *(r.target.removeprefix(r.family + ".") for r in others)]
            apart = f" [{', '.join(first.conventions)}]" if first.conventions else ""
            text = f"{', '.join(names)} {first.dtype}: {first.sentence}{apart}"
            yield labelled(*grade_span(first), text, width)


def _apart_lines(results: Sequence[Record], width: int) -> Iterator[Line]:
    """What comes with this package, labelled as such."""
    for group, title in GROUPS.items():
        members = [r for r in results if group_of(r) == group]
        if members and group != "library":
            names = dict.fromkeys(r.target for r in members)
            if len(names) > _NAMED:
                names = dict.fromkeys(f"{r.family}.*" for r in members)
            yield from labelled(f"{title}:", "dim", f"{counts_text(members)} ({', '.join(names)})", width)
