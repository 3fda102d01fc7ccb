"""What a run found, on one screen: the calls of libraries, results of your own code ranked, the worst in a sentence.

Each call with its results, or, where these do not fit, in a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from ..records.claims import grade_title, marked
from ..records.ranking import best_first, worst_first
from ..records.result import Record
from ..report.calls import blocks, calls, summary
from ..report.verdicts import (
    GROUPS,
    counts_text,
    dtype_rank,
    function_rank,
    group_of,
    interval_of,
    main_results,
)
from ..show.terminal import Line, labelled, lines_of, shortened
from .lines import NUMBER, as_fit, grade_span, narrow, number, word

_NAMED = 3  # implementations that come with this package
_SENTENCES = 4  # lines that a table leaves for sentences, where there are many
_TITLES_FROM = 100  # columns from which grades are written out
_GRADE, _INTERVAL = "grade", "accurate for"
_NAMES = 20  # columns for names, at least


def ranking_lines(results: Sequence[Record], width: int, height: int) -> Iterator[Line]:
    """The table, sentences as far as they fit, and what else was measured."""
    main = main_results(results)
    found = calls(results)
    called = {record.key for call in found for record in call.records}
    families = {call.first.family for call in found}
    listed = [record for record in main if record.family not in families]
    apart = list(_apart_lines(results, width))
    shown = [record for record in main if record.key in called or record.family not in families]
    sentences = [list(lines) for lines in _sentences(worst_first(shown), width)] if len(results) > 1 else []
    room = height - 1 - len(apart)
    table = list(_results(listed, width)) if listed else []
    others = {record.key for record in results if group_of(record) in ("library", "formula")} - called
    others -= {record.key for record in listed}
    if others:
        apart = [[(f"and {len(others)} results of other functions, paths and formulas (--details)", "dim")], *apart]
    for make in (blocks, summary, partial(summary, gradients=False)):
        of_calls = list(lines_of(make(results), width)) if found else []
        says_the_worst = make is blocks and not listed
        kept = 0 if says_the_worst or not sentences else 1 + min(_SENTENCES, sum(map(len, sentences)))
        if len(table) + len(of_calls) <= room - kept:
            break
    shown_lines = list(as_fit([[line] for line in (*table, *of_calls)], room - kept, "line"))
    yield from shown_lines
    if sentences and room - len(shown_lines) > 1 + len(sentences[0]):
        yield []
        yield from as_fit(sentences, room - len(shown_lines) - 1, "sentence")
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
    names = max(width - grades - (intervals + 1) - 2 * (NUMBER + 1), _NAMES)
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
        if members and group not in ("library", "formula"):
            names = dict.fromkeys(r.target for r in members)
            if len(names) > _NAMED:
                names = dict.fromkeys(f"{r.family}.*" for r in members)
            yield from labelled(f"{title}:", "dim", f"{counts_text(members)} ({', '.join(names)})", width)
