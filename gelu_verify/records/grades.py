"""How good a result is, in one word and in one sentence: from measured facts alone, here and nowhere else.

docs/grades.md has the same definitions (`python tools/make_grades.py` writes its table). A grade follows damage: where
the outputs of one implementation are nowhere farther from the truth than those of another, its grade is not worse.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..buckets.table import Table
from ..functions import get_function
from ..own_faults import KIND as OWN_FAULT
from .accuracy import ACCURATE, LOST, NEEDED, UNITS, Accuracy
from .accurate_range import ALONE
from .parts import Bound, Grade
from .result import Record
from .sentences import HARMLESS, SLIGHT, conventions_of, failed, failure_text, interval_text, sentence_of, with_value

__all__ = [
    "GRADED",
    "GRADES",
    "HARMLESS",
    "MARKS",
    "MARKS_SAY",
    "ORDER",
    "UNITS",
    "Definition",
    "graded",
    "interval_text",
]

GRADED = ("grade", "sentence", "conventions", "accurate_range", "max_abs_error", "mean_bits", "grade_bound")
# what `graded` sets


@dataclass(frozen=True)
class Definition:
    """A grade: what it is called on a page, and when a result has it."""

    title: str
    word: str  # where columns are narrow
    letter: str  # in one cell of many
    text: str


GRADES: dict[Grade, Definition] = {  # the best first; a result has the first that holds, where it is not broken
    "correctly_rounded": Definition(
        "correctly rounded", "correct", "CR", "every output at a finite input is the correctly rounded one"
    ),
    "faithful": Definition("faithful", "faithful", "F", "every error at a finite input is below 1 ULP"),
    "accurate": Definition("accurate", "accurate", "A", f"every error is at most {ACCURATE:g} ULP"),
    "accurate_range": Definition(
        "accurate on a range",
        "range",
        "R",
        f"every error is at most {ACCURATE:g} ULP on an interval around 0 that reaches beyond {NEEDED:g} on both sides "
        f"(`accurate_range`), but at 1 in {ALONE:,} inputs; elsewhere the absolute error is small, as for the next "
        f"grade; and on average over N(0,1) at most {LOST:g} bits are lost (`mean_bits`)",
    ),
    "absolute": Definition(
        "accurate in absolute error only",
        "absolute",
        "abs",
        f"every absolute error is at most {UNITS:g} units in the last place of max(1, abs(y)); relative accuracy is "
        "lost near zero, or in most of the body",
    ),
    "coarse": Definition("coarse", "coarse", "C", "some absolute error is larger than that"),
    "broken": Definition(
        "broken",
        "BROKEN",
        "\N{MULTIPLICATION SIGN}",
        "a defect, whatever the errors are: it computes another function, gives NaN or infinity for finite x (outside "
        "of the domain of log: anything but NaN) or a "
        "wrong value at an infinity, turns NaN into a number, gives an output without a correct bit (an absolute error "
        "of more than half of the power of two at max(1, abs(y))), gives outputs that differ by more than "
        f"{UNITS:g} such units at other positions or lengths of a call, gives equal calls other outputs, changes the "
        "floating-point environment, or fails",
    ),
}
MARKS: dict[str | None, str] = {"=": "\N{BLACK CIRCLE}", ">=": "\N{WHITE CIRCLE}", None: ""}  # what a grade stands on
MARKS_SAY = {"=": "every input was tried, or nothing can make it worse", ">=": "from a sample: it may be worse"}
ORDER: dict[str, int] = {grade: place for place, grade in enumerate(GRADES)}


def graded(record: Record, table: Table | None) -> Record:
    """The record with GRADED: of its measures and checks, and of the buckets that they come from.

    `table` is None where nothing was measured.
    """
    if table is None:
        grade: Grade | None = None if record.failure_kind == OWN_FAULT else "broken"
        sentence = f"{with_value(record, failure_text(record))}."
        return replace(record, grade=grade, sentence=sentence, conventions=(), grade_bound=grade and "=")
    accuracy = Accuracy.of(table, get_function(record.judged_as), not record.ranges, record.beside or ())
    found = grade_of(record, accuracy)
    return replace(
        record,
        grade=found,
        sentence=sentence_of(record, accuracy, found, _neutral(record, found)),
        conventions=conventions_of(record, accuracy),
        accurate_range=accuracy.range,
        max_abs_error=accuracy.absolute,
        mean_bits=accuracy.bits,
        grade_bound=bound_of(record, found),
    )


def _neutral(record: Record, grade: Grade | None) -> str:
    """What the grade with the neutral value of a second input is called, where it is another one."""
    other = record.second.neutral_grade if record.second else None
    return GRADES[other].title if other not in (None, grade) else ""


def grade_of(record: Record, accuracy: Accuracy) -> Grade | None:
    """Broken where that holds, else the first of GRADES that does; none where no finite input was tried."""
    spoiled = record.failure is not None and record.failure_kind not in HARMLESS
    nonfinite = any(side.count for side in accuracy.nonfinite)
    if spoiled or nonfinite or accuracy.wrong or failed(record, "defect"):
        return "broken"
    if not accuracy.is_scored:
        return None
    witness, elsewhere = record.witness, _elsewhere(record)
    if accuracy.correct and (witness is None or witness.got_bits == witness.want_bits):
        return "correctly_rounded"
    if accuracy.faithful and elsewhere < 1:
        return "faithful"
    if max(accuracy.largest_near_root, elsewhere) <= ACCURATE:
        return "accurate"
    if accuracy.is_coarse:
        return "coarse"
    return "accurate_range" if accuracy.is_wide and not accuracy.loses_bits else "absolute"


def bound_of(record: Record, grade: Grade | None) -> Bound | None:
    """ "=" where no other input can change the grade: all were tried, or it is the worst that there is."""
    return None if grade is None else "=" if record.bound == "=" or grade == "broken" else ">="


def _elsewhere(record: Record) -> float:
    """The largest error of outputs beside those of the plan, where that is larger."""
    return (record.max_ulp or 0.0) if set(SLIGHT) & set(failed(record, "loss")) else 0.0


def is_graded_so(record: Record) -> bool:
    """Whether its grade is one of these definitions: those of stored runs from before 2026-11-23 may differ."""
    return not {"grade", "grade_bound"} & record.lacking
