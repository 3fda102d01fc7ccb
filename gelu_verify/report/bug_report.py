"""A report for the maintainers of a library: what a call returns, a program that shows it, and what would mend it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..attribution.witness import witness_parts
from ..formats import Format, get_format
from ..functions import FUNCTIONS
from ..records.claims import error_text, grade_title, said
from ..records.parts import FindingRecord, Witness
from ..records.result import Record
from ..show.document import Block, Definitions, Document, Heading, Inline, Items, Listing, Section, Text, TextTable
from ..targets import program_of
from ..truth.distance import distance
from .calls import instead_of
from .text import ulp_text, value_text
from .verdicts import first_phrase

_SECONDS = 300  # for a program, most of which it imports
_MANY = 1000  # values of a call, where one alone shows nothing
_INPUTS = 10
_ABOVE = 4.0  # ULP from which the worst input of a region is listed
_WORDS = {
    "formula": "the formula in the precision that it is computed in",
    "constants": "its constants, rounded to that precision",
    "flushing": "flushing of subnormal numbers",
}


@dataclass(frozen=True)
class Shown:
    """An input, and what was returned for it; `why`: the check or the part of x that it is of."""

    x_bits: str
    got_bits: str
    want_bits: str
    why: str


@dataclass(frozen=True)
class Reproducer:
    """A program of the library alone, and what it printed here; `shows`: that this is what the run found."""

    program: str
    printed: str
    shows: bool


def shown_inputs(record: Record) -> list[Shown]:
    """Of the checks that failed, the worst first, then the worst of all and of each part of x; each input once."""
    failed = [record.findings[name] for name in record.failed_checks if name in record.findings]
    severe = sorted(
        (each for each in failed if each.severity != "convention"), key=lambda each: each.severity != "defect"
    )
    found = [_shown(each, each.detail or "") for each in severe]
    found.append(_shown(record.witness, "largest error"))
    parts = [part for part in record.regions or () if part.max_ulp is not None and part.max_ulp > _ABOVE]
    found += [_shown(part.witness, f"worst of {part.region}") for part in parts]
    once = {each.x_bits: each for each in reversed(found) if each}
    return [once.pop(each.x_bits) for each in found if each and each.x_bits in once][:_INPUTS]


def _shown(found: FindingRecord | Witness | None, why: str) -> Shown | None:
    if found is None or not found.x_bits or not found.got_bits or not found.want_bits:
        return None
    return Shown(found.x_bits, found.got_bits, found.want_bits, why)


def reproducer(record: Record, inputs: Sequence[Shown], python: str = sys.executable) -> Reproducer | None:
    """The first program that prints what was found, of one value, or of a call of many; None where there is none."""
    fmt, tried = get_format(record.dtype), None
    for each in inputs:
        for n in (1, _MANY):
            x = int(each.x_bits, 16)
            if not (program := program_of(record.family, record.expression, record.dtype, x, n)):
                return None
            printed = _run(program, python)
            found = Reproducer(program, printed, _is(fmt, printed, int(each.got_bits, 16)))
            if found.shows:
                return found
            tried = tried or found
    return tried


def _run(program: str, python: str) -> str:
    """What a program prints, or the last line of what it says instead."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-W", "ignore", "-c", program]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"nothing within {_SECONDS} seconds"
    said = done.stdout if done.returncode == 0 else (done.stderr.strip().splitlines() or ["nothing"])[-1]
    return said.strip()


def _is(fmt: Format, printed: str, got: int) -> bool:
    """Whether a float, or one of a set, is what was returned."""
    for word in printed.strip("{}").split(","):
        try:
            bits = fmt.parse(word.strip())
        except ValueError:  # UsageError is one
            return False
        if bits == got or (fmt.is_nan(bits) and fmt.is_nan(got)):
            return True
    return False


def bug_report(
    record: Record, records: Sequence[Record], manifest: Mapping[str, Any], found: Reproducer | None
) -> Document:
    """
    Parameters
    ----------
    records : all results of its run, among which are the alternatives
    found : the program, as `reproducer` tried it
    """
    call = record.expression or record.target
    return Document(
        title="",
        headline=f"{call} in {record.dtype}: {first_phrase(record)}",
        blocks=[
            Section("What", list(_what(record, call))),
            Section("To reproduce", list(_program(record, found))),
            Section("Inputs", [_table(record, shown_inputs(record)), Text(_CONVENTION, "note")]),
            Section("Likely cause", list(_cause(record))),
            Section("What could be done", list(_mending(record, records))),
            Section("Environment", [Definitions(list(_environment(record, manifest)))]),
        ],
    )


_CONVENTION = (
    "An error in ULP is the distance from the exact value, in units of the last place of that value. Correct values "
    "are rounded once from the exact ones, which are proved in arbitrary precision."
)


def _what(record: Record, call: str) -> Iterator[Block]:
    formula = FUNCTIONS[record.function].formula if record.function in FUNCTIONS else ""
    yield Text(f"{call} is to compute {record.function}, {formula}." if formula else f"{call} is to compute it.")
    yield Text(f"Found: {said(grade_title(record.grade), record.grade_bound)}. {record.sentence}")
    every = "all inputs of the dtype" if record.bound == "=" else f"{record.n:,} inputs"
    yield Text(f"Tried: {every}. Since which version it is so was not looked for.")


def _program(record: Record, found: Reproducer | None) -> Iterator[Block]:
    if found is None:
        yield Text("The command that shows it again:")
        yield Listing(record.repeat)
        return
    yield Listing(found.program.rstrip(), "python")
    outcome = "prints" if found.shows else "does not show it alone: it prints"
    yield Text(f"On the machine below it {outcome} {found.printed}.")


def _table(record: Record, inputs: Sequence[Shown]) -> TextTable:
    heads: list[Heading | str] = [
        "x",
        "bits of x",
        "returned",
        "bits",
        "correct",
        "bits",
        Heading("error in ULP", is_number=True),
        "why",
    ]
    return TextTable(heads, [_row(record, each) for each in inputs], title="inputs")


def _row(record: Record, each: Shown) -> list[Inline]:
    dtype, values = record.dtype, (each.x_bits, each.got_bits, each.want_bits)
    errors = distance(record.function, dtype, int(each.x_bits, 16), int(each.got_bits, 16))
    fmt = get_format(dtype)
    ulp = None
    if errors is not None and fmt.is_finite(int(each.want_bits, 16)):
        ulp = errors[0] / float(fmt.ulp(fmt.fraction(int(each.want_bits, 16))))
    cells = [cell for bits in values for cell in (value_text(dtype, bits) or "", bits)]
    return [*cells, "" if ulp is None else ulp_text(ulp, "="), each.why]


def _cause(record: Record) -> Iterator[Block]:
    parts = witness_parts(record) if record.failure is None else None
    if parts is None:
        return
    main = _WORDS.get(parts["main"], parts["main"])
    computed = f"If it computes {parts['form']} in {parts['working']}, the largest error comes from {main}"
    known = f"; {parts['known']}, a re-implementation, returns the same bits" if parts["known"] else ""
    yield Text(f"{computed}{known}.")
    names = (("formula", "formula"), ("constants", "constants"), ("flushing", "flushing"), ("rest", "all else"))
    shares = [f"{title}: {parts[name]:+.3g} ULP" for name, title in names if parts[name]]
    yield Text(f"Of {error_text(record.max_ulp, record.bound)} ULP at the worst input: {', '.join(shares)}.")


def _mending(record: Record, records: Sequence[Record]) -> Iterator[Block]:
    texts = []
    for each in instead_of(record, records):
        other = each.record
        graded = f"{said(grade_title(other.grade), other.grade_bound)}, {other.sentence}"
        cost = f" It takes {each.times:.2g} times as long." if each.times else ""
        texts.append(f"{other.expression or other.target}: {graded}{cost}")
    yield Text("Measured in the same run, on the same inputs:" if texts else "")
    yield Items(texts)


def _environment(record: Record, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Inline]]:
    machine = manifest.get("machine") or {}
    yield record.family, record.version
    for name in ("cpu", "isa", "os", "python", "libm"):
        if value := machine.get(name):
            yield name, " ".join(value) if isinstance(value, list) else str(value)
    if record.dispatch is not None and record.dispatch.seen:
        yield "code chosen", "; ".join(f"{name}: {choice}" for name, choice in record.dispatch.seen.items())
    yield "called", "; ".join(filter(None, (record.form, record.note)))
    version = (manifest.get("versions") or {}).get("gelu-verify", "")
    yield "measured", f"{str(manifest.get('created', ''))[:10]}, gelu-verify {version}"
    yield "again", record.repeat
