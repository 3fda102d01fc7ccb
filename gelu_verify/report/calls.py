"""The calls that users of a library write: where each is right, the worst that it returns, whether its gradient is, how
fast it is, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ..functions import FUNCTIONS, base_name
from ..isa import at_level, split_level
from ..records.claims import claim_text, error_text, grade_text, marked
from ..records.grades import GRADES, MARKS, ORDER, interval_text
from ..records.ranking import best_first
from ..records.result import Record
from ..show.document import Block, Details, Heading, Inline, Items, Marked, Section, TextTable
from ..show.terminal import shortened
from ..targets.expressions import is_plain
from .text import rate_text
from .verdicts import OWN_FAMILY, dtype_rank, first_phrase, function_rank, group_of, main_results

GOOD = ("correctly_rounded", "faithful", "accurate")
_WIDER = 1.5  # how much wider a range must be to be worth another call
_EVERY_SECOND = "[::2]"  # of an array that is not contiguous: the same call, and no advice
_LONGEST, _COLUMN = 33, 9  # characters of a call, and of what is said of a dtype, where there is a line for each


@dataclass(frozen=True)
class Call:
    """What users write, with its results by dtype; of a library that has no such function, a formula to write."""

    expression: str
    records: tuple[Record, ...]

    @property
    def first(self) -> Record:
        return self.records[0]

    @property
    def is_formula(self) -> bool:
        return group_of(self.first) == "formula"

    @property
    def title(self) -> str:
        """What is written, and which function that is where it is not its name."""
        function = base_name(self.first.function)
        named = self.expression.partition("(")[0].rpartition(".")[2].lower()
        other = f", which computes {function}" if not self.is_formula and named != function else ""
        return f"{self.written}{other}"

    @property
    def written(self) -> str:
        """The expression; that the library has no such function; the level that it is limited to."""
        family, function, level = self.first.family, base_name(self.first.function), split_level(self.first.target)[1]
        before = f"{family} has no {function}; write " if self.is_formula else ""
        before = before or owner_of(self.first)
        return f"{before}{self.expression}{f', limited to {level}' if level else ''}"

    @property
    def id(self) -> str:
        """Of its section."""
        return f"call-{self.first.target}"

    @property
    def short(self) -> str:
        """ "torch gelu(x)"."""
        family, level = self.first.family, split_level(self.first.target)[1]
        if self.is_formula:
            return f"{at_level(family, level)}: a formula"
        function, _, arguments = self.expression.partition("(")
        named = function.rpartition(".")[2] if function.startswith(f"{family}.") else function
        return f"{at_level(family, level)} {named}({arguments}"


@dataclass(frozen=True)
class Instead:
    """What to write instead of a call in a dtype: `record` of the alternative, and its time over that of the call."""

    dtype: str
    record: Record
    times: float | None


def owner_of(record: Record) -> str:
    """ "onnxruntime: ", where the expression does not begin with the library's name."""
    return "" if (record.expression or record.target).startswith(f"{record.family}.") else f"{record.family}: "


def calls(records: Sequence[Record]) -> list[Call]:
    """Of each library and function the calls of one function of it; where it has none, the best formula."""
    found: dict[tuple[str, str, str], list[Record]] = {}
    for record in main_results(records):
        if record.expression and _is_activation(record.function):
            is_call = is_plain(record.expression) or group_of(record) == "formula"
            level = split_level(record.target)[1]
            if is_call:
                found.setdefault((level, record.function, f"{record.family} {record.expression}"), []).append(record)
    made = [Call(each[0].expression or "", tuple(sorted(each, key=_dtype))) for each in found.values()]
    best: dict[tuple[str, str, str], Call] = {}
    for record in best_first(record for call in made if call.is_formula for record in call.records):
        key = split_level(record.target)[1], record.family, record.function
        best.setdefault(key, next(call for call in made if record in call.records))
    return sorted([*(call for call in made if not call.is_formula), *best.values()], key=_rank)


def _dtype(record: Record) -> int:
    return dtype_rank(record.dtype)


def _is_activation(name: str) -> bool:
    known = FUNCTIONS.get(name) or FUNCTIONS.get(base_name(name))
    return "_grad" not in name and (known is None or known.group == "activation")


def _rank(call: Call) -> tuple[int, bool, str, int]:
    record = call.first
    return function_rank(record.function), call.is_formula, record.family, len(record.target)


def gradient_of(record: Record, records: Sequence[Record]) -> Record | None:
    """The result of the derivative by the same library, of the same path where it has several."""
    function = f"{record.function}_grad"
    same = [
        each
        for each in records
        if (each.family, each.function, each.dtype) == (record.family, function, record.dtype)
        and split_level(each.target)[1] == split_level(record.target)[1]
    ]
    wanted = split_level(record.target)[0].replace(record.function, function, 1)
    return min(same, key=lambda each: (not each.target.startswith(wanted), len(each.target)), default=None)


def instead_of(record: Record, records: Sequence[Record]) -> list[Instead]:
    """The best of the same library that is clearly better, and our kernel, where they were measured."""
    if record.grade in GOOD:
        return []
    same = [each for each in records if (each.function, each.dtype) == (record.function, record.dtype)]
    own = [
        each
        for each in same
        if each.family == record.family and each.expression and _EVERY_SECOND not in each.expression
        if _is_better(each, record)
    ]
    ours = [each for each in same if each.family == OWN_FAMILY and each.grade == "correctly_rounded"]
    return [Instead(record.dtype, each, _times(each, record)) for each in (*best_first(own)[:1], *ours[:1])]


def _is_better(one: Record, other: Record) -> bool:
    if one.grade is None or other.grade is None or split_level(one.target)[1] != split_level(other.target)[1]:
        return False
    if one.grade != other.grade:
        return ORDER[one.grade] < ORDER[other.grade]
    ranges = one.accurate_range, other.accurate_range
    if one.grade != "accurate_range" or ranges[0] is None or ranges[1] is None:
        return False
    return ranges[0].low < _WIDER * ranges[1].low


def _times(one: Record, other: Record) -> float | None:
    rates = [each.throughput.elements_per_s if each.throughput else 0.0 for each in (one, other)]
    return rates[1] / rates[0] if all(rates) else None


# ---- as blocks -----------------------------------------------------------------------------------


def blocks(records: Sequence[Record]) -> list[Block]:
    """A section for each call, with a row for each dtype."""
    return [
        Section(
            Marked(call.title, "code"),
            [
                TextTable(_HEADS, [_row(record, records) for record in call.records], title=call.title),
                Items([*_broken(call), *_alternatives(call, records)]),
            ],
            id=call.id,
        )
        for call in calls(records)
    ]


_HEADS = (
    "dtype",
    "accurate for",
    Heading("max ULP", is_number=True),
    Heading("gradient", is_optional=True),
    Heading("elements/s", is_number=True, is_optional=True),
)


def _row(record: Record, records: Sequence[Record]) -> list[Inline]:
    gradient = gradient_of(record, records)
    speed = record.throughput
    return [
        record.dtype,
        _claim(record),
        error_text(record.max_ulp, record.bound),
        _claim(gradient),
        rate_text(speed.elements_per_s) if speed else "",
    ]


def _claim(record: Record | None) -> Inline:
    """Where it is accurate: everywhere, on a range, or not so, in the words of its grade."""
    if record is None:
        return ""
    if record.grade == "accurate_range":
        text = claim_text(record)
    elif record.grade in GOOD:
        text = grade_text(record.grade, record.grade_bound)
    else:
        text = marked(GRADES[record.grade].word if record.grade else "-", record.grade_bound)
    return Marked(text, record.grade or "")


def _broken(call: Call) -> Iterator[str]:
    """What is worst of those that are broken, once for all dtypes in which it is the same."""
    found: dict[str, list[str]] = {}
    for record in call.records:
        if record.grade == "broken":
            found.setdefault(first_phrase(record).partition(" (")[0], []).append(record.dtype)
    for phrase, dtypes in found.items():
        yield f"broken in {', '.join(dtypes)}: {phrase}"


def _alternatives(call: Call, records: Sequence[Record]) -> Iterator[str]:
    """What to write instead, once for all dtypes in which it is the same."""
    found: dict[str, list[Instead]] = {}
    for record in call.records:
        for each in instead_of(record, records):
            found.setdefault(each.record.expression or each.record.target, []).append(each)
    for expression, several in found.items():
        what = ", ".join(f"{each.dtype} {claim_text(each.record)}{_cost(each)}" for each in several)
        yield f"instead: {expression}: {what}"


def advice(records: Sequence[Record]) -> Iterator[Inline]:
    """What to write instead of each call that is not accurate everywhere."""
    for call in calls(records):
        for line in _alternatives(call, records):
            yield (Marked(call.written, "code", call.id), f": {line}")


def _cost(each: Instead) -> str:
    return f" in {each.times:.2g} times the time" if each.times else ""


def page_blocks(records: Sequence[Record]) -> list[Block]:
    """A line for each call, and a click away all that is said of it."""
    sections = blocks(records)
    each = Details("each call: the worst it returns, its gradient, its speed, what to write instead", sections)
    return [*summary(records, is_wide=True), each] if sections else []


def summary(records: Sequence[Record], gradients: bool = True, is_wide: bool = False) -> list[Block]:
    """A table for each function, with a line for each call, and one for its gradient, and a column for each dtype.

    `is_wide`: with whole calls and intervals, and links to sections
    """
    found, cell = calls(records), _claim if is_wide else _short
    dtypes = sorted({record.dtype for call in found for record in call.records}, key=dtype_rank)

    def rows(call: Call) -> Iterator[list[Inline]]:
        by_dtype = {record.dtype: record for record in call.records}
        name = Marked(call.written, "code", call.id) if is_wide else shortened(call.short, _LONGEST)
        yield [name, *(cell(by_dtype.get(dtype)) for dtype in dtypes)]
        derived = {dtype: gradient_of(record, records) for dtype, record in by_dtype.items()} if gradients else {}
        if any(derived.values()):
            yield ["  its gradient", *(cell(derived.get(dtype)) for dtype in dtypes)]

    return [
        TextTable(
            [f"{function:<{_LONGEST}}", *(f"{dtype:<{_COLUMN}}" for dtype in dtypes)],
            [row for call in members for row in rows(call)],
            title=f"how accurate the calls of {function} are in each dtype",
        )
        for function, members in groupby(found, key=lambda call: call.first.function)
    ]


def _short(record: Record | None) -> Inline:
    """The range that it is accurate on, or the grade, in few columns; `!`: but for a few inputs."""
    if record is None or record.grade is None:
        return "-"
    text = f"{MARKS[record.grade_bound]}{GRADES[record.grade].word}"
    if (found := record.accurate_range) and record.grade == "accurate_range":
        interval = interval_text(record.dtype, replace(found, exceptions=None)).replace(" ", "")
        range_ = f"{MARKS[found.bound or record.bound]}{interval}{'!' * bool(found.exceptions)}"
        text = range_ if len(range_) <= _COLUMN else text
    return Marked(text, record.grade)
