"""A comparison on one screen: what is worse first, what is the same in a line."""

from __future__ import annotations

from collections.abc import Iterator

from ..compare.comparison import Comparison, ResultComparison, Status
from ..errors import printable
from ..fenv import in_default_environment
from ..report.comparison_text import (
    WORDS,
    brief,
    change_lines,
    difference_text,
    names,
    run_text,
    speed_text,
    summary,
    title,
)
from .lines import Line, labelled, wrapped

_STYLES: dict[Status, str] = {
    "worse": "bad", "mixed": "bad", "vanished": "bad", "unknown": "accurate_range", "changed": "accurate",
    "better": "faithful", "appeared": "dim", "same": "dim",
}  # fmt: skip
_LISTED: tuple[Status, ...] = ("vanished", "appeared", "same")  # named in a line, without more of each
_WORD = max(map(len, WORDS.values()))
_MOST = 12  # changes of one result on a screen
_FEW = 3  # where there are many results


@in_default_environment
def comparison_lines(found: Comparison, *, width: int, height: int, details: bool = False) -> list[Line]:
    """`details`: everything, whatever the height."""
    head = [*labelled("old:", "dim", run_text(found.old), width), *labelled("new:", "dim", run_text(found.new), width)]
    if found.differences:
        text = "; ".join(map(difference_text, found.differences))
        head += labelled("The runs also differ in", "accurate_range", text, width)
    foot = [line for status in _LISTED for line in _listed(found, status, width, details)]
    foot += [[(part, "bold")] for part in wrapped(summary(found), width)]
    shown = [each for each in found.results if each.status not in _LISTED]
    if details:
        body = [line for each in shown for line in _result_lines(each, width, None)]
    else:
        body = list(_as_fit(shown, width, height - len(head) - len(foot)))
    return [[(printable(text), style) for text, style in line] for line in [*head, *body, *foot]]


def _listed(found: Comparison, status: Status, width: int, details: bool) -> Iterator[Line]:
    members = found.of_status(status)
    if not members:
        return
    if status == "same" and not details:
        text = f"{len(members)} result{'' if len(members) == 1 else 's'}, bit for bit"
    else:
        text = names(members)
    yield from labelled(f"{WORDS[status]}:", _STYLES[status], text, width)


def _result_lines(result: ResultComparison, width: int, most: int | None) -> list[Line]:
    """A result with its changes: all of them, or the `most` that say most."""
    lines = list(labelled(WORDS[result.status].ljust(_WORD), _STYLES[result.status], title(result), width))
    changes, more = (list(result.changes), 0) if most is None else brief(result, most)
    for change in changes:
        for text in change_lines(result, change):
            indent = " " * (2 + len(text) - len(text.lstrip()))
            lines += [[(indent + part, "")] for part in wrapped(text.lstrip(), width - len(indent))]
    if more > 0:
        lines.append([(f"  and {more} more change{'' if more == 1 else 's'} (--details)", "dim")])
    if (speed := speed_text(result)) is not None and (most is None or most > _FEW):
        lines.append([(f"  {speed}", "dim")])
    return lines


def _as_fit(results: list[ResultComparison], width: int, room: int) -> Iterator[Line]:
    """As many results as there is room for, each with as many changes as all can have."""
    lines: list[list[Line]] = []
    for most in (_MOST, 8, 5, _FEW):
        lines = [_result_lines(each, width, most) for each in results]
        if sum(map(len, lines)) <= room:
            break
    left = room - 1
    for place, each in enumerate(lines):
        left -= len(each)
        if left < 0 and place:
            more = len(lines) - place
            yield [(f"and {more} more result{'' if more == 1 else 's'} that changed (--details)", "dim")]
            return
        yield from each
