"""Verdicts of a comparison: what of each result got worse, or changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..compare.comparison import Comparison, ResultComparison
from ..compare.runs import decisive, is_over
from ..judge.sides import Change
from ..records.claims import grade_text
from ..report.comparison_text import in_turns_texts
from .cases import Case, CaseVerdict, Value
from .places import place_of


def cases_of_comparison(found: Comparison, fail_on: str | None) -> list[Case]:
    """Of each result, the worst first; changes that do not decide are notes."""
    over, unknown = decisive(found, fail_on)
    verdicts: dict[str, CaseVerdict] = {
        **{each.key: "not measured" for each in unknown},
        **{each.key: "failed" for each in over},
    }
    return [_case(each, verdicts.get(each.key, "passed"), fail_on) for each in found.results]


def _case(result: ResultComparison, verdict: CaseVerdict, fail_on: str | None) -> Case:
    said = [each for each in result.changes if _decides(result, each, verdict, fail_on)]
    notes = [each for each in result.changes if each not in said]
    witness = next((each.witness for each in said if each.witness), None)
    bits = {name: getattr(witness, f"{name}_bits", None) for name in ("x", "old", "new", "want")}
    return Case(
        result.key,
        verdict,
        _reasons(result, said) or ((result.verdict,) if verdict != "passed" else ()),
        tuple(each.text for each in notes),
        tuple(Value.of(name, result.dtype, text) for name, text in bits.items() if text),
        result.new_grade or result.old_grade,
        "; ".join(_sentence(result)),
        result.repeat or "",
        place_of(result.target, result.function),
        result.new_grade_bound if result.new_grade else result.old_grade_bound,
    )


def _reasons(result: ResultComparison, said: Sequence[Change]) -> tuple[str, ...]:
    """The first sentence, then the changes that decide, then how much slower it is."""
    first = (result.sentence,) if result.sentence and said else ()
    times = in_turns_texts(result) if result.is_slower or not result.in_turns else ()
    return (*first, *(each.text for each in said), *times)


def _decides(result: ResultComparison, change: Change, verdict: CaseVerdict, fail_on: str | None) -> bool:
    """Whether it is why the result is over the limit, or why that is not known."""
    if verdict == "not measured":
        return change.verdict == "unknown"
    return is_over(result, fail_on) and (change.verdict == "worse" or fail_on == "change")


def _sentence(result: ResultComparison) -> Iterator[str]:
    yield result.verdict
    if result.old_grade and result.new_grade and result.old_grade != result.new_grade:
        yield f"was {grade_text(result.old_grade, result.old_grade_bound)}"
    if result.bits is not None and result.bits.least:
        most = result.bits.most
        yield f"other results at {result.bits.least}{f' to {most}' if most != result.bits.least else ''} inputs"
