"""Which results come first, whose they are, and what a report says first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ..formats import DTYPES
from ..functions import FUNCTIONS, base_name
from ..isa import split_level
from ..records.claims import NO_GRADE, grade_title, range_text, said
from ..records.grades import GRADES
from ..records.parts import Grade
from ..records.ranking import worst_first
from ..records.result import Record
from ..targets import is_shipped
from ..targets.expressions import is_formula

Group = Literal["library", "formula", "ours", "specimen"]

GROUPS: dict[Group, str] = {  # what a list of such results is called
    "library": "libraries and your own code",
    "formula": "formulas to write with functions of a library",
    "ours": "our own correctly rounded kernels",
    "specimen": "textbook specimens, shipped for comparison",
}
OWN_FAMILY = "kernels"  # the implementations that ship with this package: listed after everybody else's
_CORRECTLY_ROUNDED = ("cr", "correctly rounded")  # forms of kernels
_NAMED = 3  # broken results that a headline names


def group_of(record: Record) -> Group:
    """Whose implementation it is: a library's or the user's, a formula of a library's functions, ours, or a textbook
    formula that we ship."""
    if not is_shipped(record.family):
        return "formula" if is_formula(record.expression or "") else "library"
    return "ours" if record.form in _CORRECTLY_ROUNDED else "specimen"


def target_order(family: str, target: str) -> tuple[bool, str, tuple[str, str]]:
    """Frameworks by name, then our own kernels; a target beside itself at instruction-set levels."""
    return (family == OWN_FAMILY, family, split_level(target))


def function_rank(name: str) -> int:
    """Place of a function in every list: as registered, unknown ones (of foreign runs) last."""
    return list(FUNCTIONS).index(base_name(name)) if name in FUNCTIONS else len(FUNCTIONS)


def dtype_rank(name: str) -> int:
    """Place of a dtype in every list."""
    return DTYPES.index(name) if name in DTYPES else len(DTYPES)


# ---- the headline --------------------------------------------------------------------------------


def headline(records: Sequence[Record], brief: bool = False) -> str:
    """What was found, the worst first: of libraries and the user's code, or, without these, of what we ship.

    brief : of many only what is broken
    """
    if not records:
        return "Nothing was measured."
    if len(records) == 1:
        (record,) = records
        return f"{record.target} {record.function} {record.dtype} is {_graded(record)}"
    main = main_results(records)
    groups = Counter(map(group_of, records)) - Counter(map(group_of, main))
    shipped = groups["ours"] + groups["specimen"]
    apart = [f"{shipped} of kernels that come with gelu-verify"] if shipped else []
    apart += [f"{groups['formula']} of formulas to write with functions of a library"] if groups["formula"] else []
    others = f"Not counted: {', '.join(apart)}." if apart else ""
    is_brief = brief and "broken" in by_grade(main)
    return " ".join(filter(None, (_broken(main), "" if is_brief else _others(main), others)))


def main_results(records: Sequence[Record]) -> list[Record]:
    """Those of libraries and of the user's code, with formulas where the library has no such function; without these,
    all."""
    groups = [group_of(record) for record in records]
    has = {(each.family, each.function) for each, group in zip(records, groups, strict=True) if group == "library"}
    return [
        record
        for record, group in zip(records, groups, strict=True)
        if group == "library" or (group == "formula" and (record.family, record.function) not in has)
    ] or list(records)


def counts_text(records: Sequence[Record]) -> str:
    """How many results have which grade, the worst first: "2 broken, 5 accurate"."""
    return ", ".join(f"{len(members)} {_titled(grade, members)}" for grade, members in by_grade(records).items())


def _titled(grade: Grade | None, members: Sequence[Record], *more: str) -> str:
    """The grade of several results, how many of them are of a sample, and what else is said of them."""
    sampled = sum(record.grade_bound == ">=" for record in members if grade)
    count = f"{sampled} " if sampled < len(members) else ""
    notes = [*([f"{count}from a sample"] if sampled else []), *more]
    return grade_title(grade) + (f" ({'; '.join(notes)})" if notes else "")


def by_grade(records: Sequence[Record]) -> dict[Grade | None, list[Record]]:
    """The grades that occur, the worst first, results without one last; the worst result of each first."""
    found: dict[Grade | None, list[Record]] = {grade: [] for grade in (*reversed(GRADES), None)}
    for record in worst_first(records):
        found[record.grade].append(record)
    return {grade: members for grade, members in found.items() if members}


def _graded(record: Record) -> str:
    if record.grade is None:
        return f"{NO_GRADE}."
    apart = f" By convention: {', '.join(record.conventions)}." if record.conventions else ""
    return f"{said(grade_title(record.grade), record.grade_bound)}: {record.sentence}{apart}"


def _broken(records: Sequence[Record]) -> str:
    broken, graded = by_grade(records).get("broken", []), sum(record.grade is not None for record in records)
    broken = sorted(broken, key=lambda record: bool(split_level(record.target)[1]))  # a library's own choice first
    if not broken:
        return (
            "" if not graded else "The result is not broken." if graded == 1 else f"None of {graded} results is broken."
        )
    named: dict[str, list[str]] = {}
    for record in broken[:_NAMED]:
        named.setdefault(first_phrase(record).partition(" (")[0], []).append(f"{record.target} {record.dtype}")
    texts = ", ".join(f"{', '.join(names)} ({phrase})" for phrase, names in named.items())
    more = f" and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
    return f"{len(broken)} of {graded} results {_is(len(broken))} broken: {texts}{more}."


def _others(records: Sequence[Record]) -> str:
    parts = []
    for grade, members in by_grade(records).items():
        if grade == "broken":
            continue
        narrowest, where = members[0], []
        if grade == "accurate_range" and interval_of(narrowest):
            which = "the narrowest: " if len(members) > 1 else ""
            where = [f"{which}{narrowest.target} {narrowest.dtype}, {interval_of(narrowest)}"]
        parts.append(f"{len(members)} {_is(len(members))} {_titled(grade, members, *where)}")
    return f"{'; '.join(parts)}." if parts else ""


def interval_of(record: Record) -> str:
    """Where it is accurate: "○ x >= -1.32"; empty where there is no such interval."""
    return range_text(record.dtype, record.accurate_range, record.bound)


def first_phrase(record: Record) -> str:
    """What is worst about it."""
    return (record.sentence or "").partition("; ")[0].removesuffix(".")


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def absences(manifests: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """{family: reason} of what could not be used in any of the runs."""
    found: dict[str, str] = {}
    for manifest in manifests:
        for family, reason in (manifest.get("absent") or {}).items():
            found.setdefault(family, reason)
    return found
