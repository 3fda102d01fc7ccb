"""A comparison on one screen: what is worse first, what is the same in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compare.comparison import Comparison, ResultComparison
from ..errors import printable
from ..judge.changes import Verdict
from ..report.comparison_text import (
    LISTED,
    WORDS,
    before_and_after,
    brief,
    change_lines,
    difference_text,
    in_turns_texts,
    name_of,
    names,
    run_text,
    speed_text,
    summary,
    title,
)
from ..show.terminal import Line, labelled, shortened, wrapped
from .lines import as_fit

_STYLES: dict[Verdict, str] = {
    "worse": "bad", "mixed": "bad", "vanished": "bad", "unknown": "accurate_range", "changed": "accurate",
    "better": "faithful", "appeared": "dim", "same": "dim",
}  # fmt: skip
_WORD = max(map(len, WORDS.values()))
_MOST = 12  # changes of one result on a screen
_FEW, _WORST = 3, 2  # where there are many results: changes of each, and how many have any
_NAMED = 3  # targets that appeared or vanished
_LONGEST = 150  # characters of one difference between the runs


def comparison_lines(found: Comparison, *, width: int, height: int, details: bool = False) -> list[Line]:
    """`details`: everything, whatever the height."""
    head = [*labelled("old:", "dim", run_text(found.old), width), *labelled("new:", "dim", run_text(found.new), width)]
    if found.differences:
        texts = [difference_text(each) for each in found.differences]
        text = "; ".join(texts if details else [shortened(each, _LONGEST) for each in texts])
        head += labelled("The runs differ in:", "accurate_range", text, width)
    shown = [each for each in found.results if each.verdict not in LISTED]
    foot = [line for verdict in LISTED for line in _listed(found, verdict, width, details)]
    if details:
        body = [line for each in shown for line in _result_lines(each, width, None)]
    else:
        alike = _alike(shown)
        foot = [*(line for reason, members in alike.items() for line in _unknown(reason, members, width)), *foot]
        apart = {each.key for members in alike.values() for each in members}
        summed = wrapped(summary(found), width)
        room = height - len(head) - len(foot) - len(summed)
        body = list(_briefly([each for each in shown if each.key not in apart], width, room))
    timed = [f"{name_of(each)}: {text}" for each in found.results for text in in_turns_texts(each)]
    foot += [[(part, "bad" if ": slower: " in text else "dim")] for text in timed for part in wrapped(text, width)]
    foot += [[(part, "bold")] for part in wrapped(summary(found), width)]
    return [[(printable(text), style) for text, style in line] for line in [*head, *body, *foot]]


def _alike(results: Sequence[ResultComparison]) -> dict[str, list[ResultComparison]]:
    """Results of which only that is known that nothing is known, by the reason; where several have the same."""
    found: dict[str, list[ResultComparison]] = {}
    for each in results:
        if each.verdict == "unknown" and all(change.what in ("bits", "conditions") for change in each.changes):
            found.setdefault("; ".join(change.text for change in each.changes), []).append(each)
    return {reason: members for reason, members in found.items() if len(members) > 1}


def _unknown(reason: str, members: Sequence[ResultComparison], width: int) -> Iterator[Line]:
    text = f"{len(members)} results, no difference in what was kept: {reason}"
    yield from labelled(f"{WORDS['unknown']}:", _STYLES["unknown"], text, width)


def _listed(found: Comparison, verdict: Verdict, width: int, details: bool) -> Iterator[Line]:
    members = found.of_verdict(verdict)
    if not members:
        return
    if verdict == "same" and not details:
        text = f"{len(members)} result{'' if len(members) == 1 else 's'}, bit for bit (NaNs are alike){_on(members)}"
    else:
        text = names(members) if details else names(members, _NAMED)
    yield from labelled(f"{WORDS[verdict]}:", _STYLES[verdict], text, width)


def _on(members: Sequence[ResultComparison]) -> str:
    """On which inputs, where budgets reached others."""
    shares = [each.both_tried for each in members if each.both_tried]
    if len(shares) < 2:
        return "".join(f", {each.text}" for each in shares)
    least = min(shares, key=lambda each: each.inputs)
    return f", {len(shares)} of them {least.text.partition(';')[0].replace(' on ', ' on at least ', 1)}"


def _result_lines(result: ResultComparison, width: int, most: int | None) -> list[Line]:
    """A result with its changes: all of them, or the `most` that say most."""
    lines = list(labelled(WORDS[result.verdict].ljust(_WORD), _STYLES[result.verdict], title(result), width))
    if most == 0:
        return lines
    if result.sentence:
        lines += [[(f"  {part}", "")] for part in wrapped(before_and_after(result), width - 2)]
    changes, more = (list(result.changes), 0) if most is None else brief(result, most)
    for change in changes:
        for text in change_lines(result, change):
            indent = " " * (2 + len(text) - len(text.lstrip()))
            lines += [[(indent + part, "")] for part in wrapped(text.lstrip(), width - len(indent))]
    if more > 0:
        lines.append([(f"  and {more} more change{'' if more == 1 else 's'} (--details)", "dim")])
    if result.repeat and result.verdict in ("worse", "mixed"):
        lines.append([(f"  repeat {result.repeat}", "dim")])
    if (speed := speed_text(result)) is not None and (most is None or most > _FEW):
        lines.append([(f"  {speed}", "dim")])
    return lines


def _briefly(results: Sequence[ResultComparison], width: int, room: int) -> Iterator[Line]:
    """Each with as many changes as there is room for; else the worst with some, and the titles of others."""
    lines: list[list[Line]] = []
    for most in (_MOST, 8, 5, _FEW):
        lines = [_result_lines(each, width, most) for each in results]
        if sum(map(len, lines)) <= room:
            break
    else:
        lines[_WORST:] = [_result_lines(each, width, 0) for each in results[_WORST:]]
    yield from as_fit(lines, room, "result", " that changed")
