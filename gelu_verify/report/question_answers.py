"""Answers to the questions that users ask of a report, from its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ..formats import DTYPES
from ..gpu.info import label
from ..records.asking import ask_command
from ..records.claims import claim_text, error_text
from ..records.grades import GRADES
from ..records.ranking import best_first
from ..records.result import Record
from ..show.chart import number
from ..show.document import Block, Definitions, Inline, Items, Listing, Marked, Text, listed
from ..truth.values import reference
from ..versions.since import since_when
from . import text
from .calls import GOOD, advice, calls, owner_of
from .citation import citation_texts
from .frames import RunLike
from .levels import level_lines
from .verdicts import OWN_FAMILY, dtype_rank, main_results

FORMS = ("gelu", "gelu_tanh")  # the two that share a name
_SHOWN = 8  # lines of an answer


@dataclass(frozen=True)
class ReportedRuns:
    """Runs and their results."""

    runs: Sequence[RunLike]
    records: Sequence[Record]


def best(reported: ReportedRuns) -> Iterator[Block]:
    """Of the libraries."""
    yield from _of_each(_called(reported), lambda records: best_first(records)[0], claim_text)


def fastest(reported: ReportedRuns) -> Iterator[Block]:
    def speed(record: Record) -> float:
        return record.throughput.elements_per_s if record.throughput else 0.0

    def first(records: Sequence[Record]) -> Record | None:
        return max((each for each in records if each.grade in GOOD and each.throughput), key=speed, default=None)

    ours = [each for each in reported.records if each.family == OWN_FAMILY and each.grade == "correctly_rounded"]
    for records in (_called(reported), ours):
        yield from _of_each(records, first, lambda each: f"{claim_text(each)}, {text.rate_text(speed(each))}")


def _called(reported: ReportedRuns) -> list[Record]:
    return [record for call in calls(reported.records) for record in call.records]


def _name(record: Record) -> Marked:
    """As users write it."""
    owner = "" if record.family == OWN_FAMILY else owner_of(record)
    return Marked(f"{owner}{record.expression or record.target}", "code")


def _of_each(
    records: Sequence[Record], choose: Callable[[Sequence[Record]], Record | None], said: Callable[[Record], str]
) -> Iterator[Block]:
    """A line for each of FORMS and each dtype: the call that is chosen, and what is said of it."""
    lines: list[Inline] = []
    for name in FORMS:
        for dtype in DTYPES:
            several = [each for each in records if (each.function, each.dtype) == (name, dtype) and each.grade]
            if several and (record := choose(several)):
                lines.append((f"{name} in {dtype}: ", _name(record), f": {said(record)}"))
    if lines:
        yield Items(lines)


def instead(reported: ReportedRuns) -> Iterator[Block]:
    lines = list(advice(reported.records))
    yield from listed(lines, _SHOWN) if lines else ()


def forms_apart(reported: ReportedRuns) -> Iterator[Block]:
    x = number(round(one_percent(), 3))
    yield Text(
        f"Below x = {x}, gelu_tanh is more than 1 % away from gelu, the farther the smaller x is; above it, less. "
        "Their absolute difference is drawn with the functions."
    )


@cache
def one_percent() -> float:
    """The x at which gelu_tanh differs from gelu by 1 %, to 6 digits; below it the difference grows."""
    apart, near = -3.0, -1.0
    while near - apart > 1e-6:
        middle = (apart + near) / 2
        gelu, other = (float(reference(name, middle)) for name in FORMS)
        apart, near = (middle, near) if abs(other - gelu) >= 0.01 * abs(gelu) else (apart, middle)
    return near


def gpu(reported: ReportedRuns) -> Iterator[Block]:
    for run in reported.runs:
        device, cpu = label(run.manifest.get("device")), run.manifest["machine"].get("cpu") or "a CPU"
        yield Text(f"Yes: {device}." if device else f"No: all results are of {cpu}.")


def machine(reported: ReportedRuns) -> Iterator[Block]:
    for run in reported.runs:
        versions = ", ".join(f"{name} {version}" for name, version in run.manifest["versions"].items())
        cpu = run.manifest["machine"].get("cpu") or "not known"
        yield Definitions([("processor", cpu), ("date", str(run.manifest["created"])), ("versions", versions)])


def _largest(reported: ReportedRuns) -> Record | None:
    """The call with the largest finite error."""
    found = _called(reported) or main_results(reported.records)
    return max((each for each in found if each.witness), key=lambda record: record.max_ulp or 0.0, default=None)


def example(reported: ReportedRuns) -> Iterator[Block]:
    record = _largest(reported)
    if record is None or record.witness is None:
        return
    x, got, want = (
        f"{text.short_value(record.dtype, bits, 9)} ({bits})"
        for bits in (record.witness.x_bits, record.witness.got_bits, record.witness.want_bits)
    )
    size = error_text(record.max_ulp, record.bound)
    yield Text((_name(record), f" in {record.dtype}, {size} ULP; the command asks the library again:"))
    yield Definitions([("x", x), ("returned", got), ("right", want)])
    yield Listing(ask_command(record, record.witness.x_bits))


def since(reported: ReportedRuns) -> Iterator[Block]:
    """Of calls that are wrong somewhere; then of others."""
    called = sorted(_called(reported), key=lambda record: record.grade in GOOD)
    lines: list[Inline] = [(_name(each), f" in {each.dtype}: {said}") for each in called if (said := since_when(each))]
    yield from listed(lines, _SHOWN)
    yield Text(("From release to release: ", Marked("gelu-verify upgrade LIBRARY OLD NEW", "code"), "."))


def repeat(reported: ReportedRuns) -> Iterator[Block]:
    yield Listing("\n".join(str(run.manifest["command"]) for run in reported.runs))
    yield Text("Each result has a command of its own, and one for each of its inputs: click its row.")


def cite(reported: ReportedRuns) -> Iterator[Block]:
    yield Items(citation_texts(reported.runs))


def inputs(reported: ReportedRuns) -> Iterator[Block]:
    lines = []
    for dtype in sorted({record.dtype for record in reported.records}, key=dtype_rank):
        counts = [record.n for record in reported.records if record.dtype == dtype and record.n]
        whole = sum(record.bound == "=" for record in reported.records if record.dtype == dtype and record.n)
        if counts:
            span = f"{min(counts):,}" + (f" to {max(counts):,}" if max(counts) > min(counts) else "")
            lines.append(f"{dtype}: {span} for each result; in {whole} of {len(counts)} results all that there are")
    yield Items(lines)


def levels(reported: ReportedRuns) -> Iterator[Block]:
    lines = level_lines(reported.records)
    if lines:
        yield Items(lines[:_SHOWN])
    else:
        yield Text(("This run has one level; all: ", Marked("gelu-verify run TARGET --isa all", "code"), "."))


def grades(reported: ReportedRuns) -> Iterator[Block]:
    pairs = [(each.title, each.text.partition(" (")[0].partition(":")[0]) for each in GRADES.values()]
    yield Definitions(pairs)
    yield Text("● and =: every input was tried. ○ and ≥: a sample was tried, and another input may be worse.")


def bug(reported: ReportedRuns) -> Iterator[Block]:
    broken = (record for record in main_results(reported.records) if record.grade == "broken")
    if record := next(broken, _largest(reported)):
        yield Listing(f"gelu-verify report-bug RUN {record.target}/{record.function}/{record.dtype}")
