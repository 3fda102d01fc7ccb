"""One case for each result, whatever command found it and whichever file shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..formats import get_format
from ..judge.demands import Demands, can_be_tried, exceeded, of_a_sample, shown_input
from ..records.asking import repeat_command
from ..records.claims import grade_text
from ..records.grades import ORDER
from ..records.parts import Bound, Grade
from ..records.result import Record
from ..report.text import value_text
from .places import FilePlace, place_in, place_of

if TYPE_CHECKING:
    from ..gate.verdicts import RowVerdict

CaseVerdict = Literal["failed", "not measured", "skipped", "passed"]
VERDICTS: tuple[CaseVerdict, ...] = ("failed", "not measured", "skipped", "passed")  # the worst first
_SHOWN = ("x", "got", "want")
_OF_BUDGETS: Mapping[str, CaseVerdict] = {"over": "failed", "missing": "not measured", "ok": "passed"}


@dataclass(frozen=True)
class Value:
    """A value by its bits, as a hex float, and as the shortest decimal that names it in its dtype."""

    name: str
    bits: str
    hex_float: str
    decimal: str

    @classmethod
    def of(cls, name: str, dtype: str, bits: str) -> Value:
        hex_float = get_format(dtype).hex_float(int(bits, 16))
        return cls(name, bits, hex_float, value_text(dtype, bits) or "")


@dataclass(frozen=True)
class Case:
    """What is said of one result.

    Parameters
    ----------
    key : target/function/dtype, or what else was judged
    reasons : why it failed, was not measured or was skipped; the first is the sentence that says all that matters
    notes : what else changed, or must be known of it
    values : an input that shows the first reason, what was returned for it, and what is right
    grade, grade_bound, sentence : of its record (docs/grades.md)
    repeat : the command that shows the input again, or measures all again
    place : where its code is, as far as that is known
    """

    key: str
    verdict: CaseVerdict
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    grade: Grade | None = None
    sentence: str = ""
    repeat: str = ""
    place: FilePlace | None = None
    grade_bound: Bound | None = None

    @property
    def title(self) -> str:
        """The grade in words; empty where there is none."""
        return grade_text(self.grade, self.grade_bound) if self.grade else ""

    @property
    def reason(self) -> str:
        """The worst in one line: the first reason, and how many follow."""
        more = f" (and {len(self.reasons) - 1} more)" if len(self.reasons) > 1 else ""
        return f"{self.reasons[0]}{more}" if self.reasons else self.verdict

    def lines(self, most: int | None = None) -> Iterator[str]:
        """All that is known of it, as lines of text: the first reason, the input, the command, then all else; with
        `most` only so many reasons, and no notes."""
        yield from self.reasons[:1]
        yield from self.input_lines()
        yield from self.reasons[1:most]
        if most is None:
            yield from (f"note: {note}" for note in self.notes)
        elif len(self.reasons) > most:
            yield f"and {len(self.reasons) - most} more reasons"
        if self.sentence:
            yield f"grade  {self.title}: {self.sentence}" if self.grade else self.sentence
        if self.place:
            yield f"source {self.place.path}:{self.place.line}"

    def input_lines(self) -> Iterator[str]:
        """The input, what was returned and what is right, and the command."""
        yield from (f"{each.name:6s} {each.bits}  {each.hex_float}  ({each.decimal})" for each in self.values)
        if self.repeat:
            yield f"repeat {self.repeat}"


def worst_first(cases: Iterable[Case]) -> list[Case]:
    """By verdict, then by grade; equals stay in their order."""
    worst = {grade: -place for grade, place in ORDER.items()}
    return sorted(cases, key=lambda each: (VERDICTS.index(each.verdict), worst.get(each.grade or "", 1)))


def cases_of_budgets(rows: Iterable[RowVerdict], budgets: Path) -> list[Case]:
    """Of the rows of a gate, in their order; the place of what has no file of its own is its row of the budgets."""
    found = [_case(row.key, _OF_BUDGETS[row.verdict], row.reasons, row.notes, row.record, row.witness) for row in rows]
    return [
        each if each.place else replace(each, place=place_in(budgets, f'"{each.key}') or place_in(budgets, ""))
        for each in found
    ]


def cases_of_run(records: Sequence[Record], limits: Demands, absent: Mapping[str, str]) -> list[Case]:
    """Of a run with limits; what was asked for but is not there is skipped. Without limits, only a failure fails."""
    reasons: dict[str, list[str]] = {}
    for record, reason in exceeded(records, limits):
        reasons.setdefault(record.key, []).append(reason)
    in_a_sample = of_a_sample(records, limits)
    samples, searched = (
        {record.key: (what,) for record, what in in_a_sample if can_be_tried(record) == can} for can in (True, False)
    )
    found = [
        _case(
            record.key,
            _verdict_of(record, record.key in reasons, record.key in samples),
            (*reasons.get(record.key, samples.get(record.key, ())), *(record.own_faults or ())),
            searched.get(record.key, ()),
            record,
            shown_input(record, limits),
        )
        for record in records
    ]
    return found + [Case(name, "skipped", (reason,)) for name, reason in absent.items()]


def _verdict_of(record: Record, is_over: bool, is_of_a_sample: bool) -> CaseVerdict:
    return "failed" if is_over else "not measured" if is_of_a_sample or record.own_faults else "passed"


def _case(
    key: str,
    verdict: CaseVerdict,
    reasons: tuple[str, ...],
    notes: tuple[str, ...],
    record: Record | None,
    witness: Mapping[str, str | None] | None,
) -> Case:
    if record is None:
        return Case(key, verdict, reasons, notes)
    bits = witness or {}
    return Case(
        key,
        verdict,
        reasons,
        notes,
        tuple(Value.of(name, record.dtype, text) for name in _SHOWN if (text := bits.get(f"{name}_bits"))),
        record.grade,
        f"{record.sentence or ''}{''.join(f' [{each}]' for each in record.conventions or ())}",
        repeat_command(record, bits.get("x_bits")),
        place_of(record.target, record.function),
        record.grade_bound,
    )
