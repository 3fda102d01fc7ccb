"""A report for the maintainers of a library: what a call returns, a program that shows it, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..attribution.models import form_named
from ..attribution.witness import BLOCKS_AND_REST, witness_parts
from ..formats import get_format
from ..functions import get_function
from ..records.claims import grade_title, said
from ..records.grades import HARMLESS
from ..records.result import Record
from ..show.document import (
    Block,
    Definitions,
    Document,
    Heading,
    Inline,
    Items,
    Listing,
    Marked,
    Section,
    Text,
    TextTable,
)
from ..truth.values import judge
from ..versions.since import since_when
from .calls import instead_of, owner_of
from .reproducer import Reproducer, ShownInput, shown_inputs
from .text import ulp_text, value_text

_WORDS = {
    "formula": "the formula, evaluated in that precision",
    "constants": "its constants, rounded to that precision",
    "flushing": "flushing of subnormal numbers",
    BLOCKS_AND_REST: "the functions that it calls, or the order of its operations",
}


def title_of(record: Record) -> str:
    """What is worst about what it returns, of the call that a user writes."""
    worst = _of_outputs(record).removesuffix(".").partition("; ")[0]
    return f"{''.join(_call(record))} in {record.dtype}: {worst or 'its largest errors'}"


def _of_outputs(record: Record) -> str:
    """The sentence without what a maintainer of the function does not look for: that a thread of it stayed."""
    rest = (record.sentence or "").partition("; ")[2]
    return rest if rest and record.failure_kind in HARMLESS else record.sentence or ""


def _call(record: Record) -> tuple[str, str]:
    """What users write, after the name of its library where that is not in it: "litert: ", "tensorflow.exp(x)"."""
    return owner_of(record), record.expression or record.target


def bug_report(
    record: Record,
    records: Sequence[Record],
    manifest: Mapping[str, Any],
    found: Reproducer | None,
    *,
    not_run: str = "",
    title: str = "",
    consequence: str = "",
) -> Document:
    """
    Parameters
    ----------
    records : all results of its run, among which are the alternatives
    found : a program, as `reproduced` tried it; `not_run`: why it was not run
    title, consequence : what somebody wrote: in the place of `title_of`, and of what it means in practice
    """
    sections: dict[str, list[Block]] = {
        "What": list(_what(record)),
        "In practice": [Text(consequence)] if consequence else [],
        "To reproduce": list(_program(record, found, not_run)),
        "Inputs": [_table(record, inputs), Text(_CONVENTION, "note")] if (inputs := shown_inputs(record)) else [],
        "Likely cause": list(_cause(record)),
        "What could be done": list(_mending(record, records)),
        "Environment": [Definitions(list(_environment(record, manifest)))],
    }
    return Document(
        title="",
        headline=title or title_of(record),
        blocks=[Section(name, blocks) for name, blocks in sections.items() if blocks],
    )


_CONVENTION = (
    "An error in ULP is the distance from the exact value, in units of the last place of that value. Correct values "
    "are rounded once from the exact ones, which are proved in arbitrary precision."
)


def _what(record: Record) -> Iterator[Block]:
    formula, (family, call) = get_function(record.judged_as).formula, _call(record)
    yield Text((family, _code(call), f" is judged as {record.function}", f": {formula}." if formula else "."))
    found = ("Found", said(grade_title(record.grade), record.grade_bound), _of_outputs(record))
    yield Text(": ".join(filter(None, found)))
    every = "every input of the dtype" if record.bound == "=" else f"{record.n:,} inputs, so others may be worse"
    narrowed = f" in {', '.join(record.ranges)} (bits)" if record.ranges else ""
    since = since_when(record) or "Other versions of the library were not tried."
    yield Text(f"Tried: {every}{narrowed}. {since}")


def _code(text: str) -> Marked:
    return Marked(text, "code")


def _program(record: Record, found: Reproducer | None, not_run: str) -> Iterator[Block]:
    if found is None:
        yield Text("The command that shows it again:")
        yield Listing(record.repeat)
        return
    yield Listing(found.program.rstrip(), "python")
    if found.printed is None:
        yield Text(f"It was not run: {not_run}.")
        return
    values = [value_text(record.dtype, bits) or "" for bits in (found.input.x_bits, found.input.want_bits)]
    outcome = "prints" if found.shows else "does not show what the run found, but gives"
    yield Text(
        (f"With {found.ran_with} it {outcome} ", _code(found.printed), f". Correct for x = {values[0]} is {values[1]}.")
    )


def _table(record: Record, inputs: Sequence[ShownInput]) -> TextTable:
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


def _row(record: Record, each: ShownInput) -> list[Inline]:
    fmt, values = get_format(record.dtype), (each.x_bits, each.got_bits, each.want_bits)
    x, got, want = (np.array([int(bits, 16)], fmt.uint) for bits in values)
    error = abs(float(judge(record.judged_as, record.dtype, x, got).error[0]))
    is_scored = np.isfinite(error) and fmt.is_finite(int(want[0]))
    cells = [cell for bits in values for cell in (value_text(record.dtype, bits) or "", bits)]
    return [*cells, ulp_text(error, "=") if is_scored else "", each.why]


def _cause(record: Record) -> Iterator[Block]:
    """Of the largest error, which need not be the worst that is wrong: infinities and NaN have no error in ULP."""
    if not record.max_ulp or (parts := witness_parts(record)) is None:
        return
    main, form = _WORDS.get(parts["main"], parts["main"]), form_named(record.function, parts["form"])
    known = f"; {parts['known']}, a re-implementation, returns the same bits" if parts["known"] else ""
    yield Text(
        f"Of the largest error ({ulp_text(record.max_ulp, '=')} ULP), if {form.text} "
        f"is computed in {parts['working']}: most comes from {main}{known}."
    )
    names = (("formula", "formula"), ("constants", "constants"), ("flushing", "flushing"), ("rest", "all else"))
    shares = [f"{title} {parts[name]:+.3g} ULP" for name, title in names if parts[name]]
    yield Text(f"In parts: {', '.join(shares)}." if len(shares) > 1 else "")


def _mending(record: Record, records: Sequence[Record]) -> Iterator[Block]:
    texts: list[Inline] = []
    for each in instead_of(record, records):
        other = each.record
        graded = f": {said(grade_title(other.grade), other.grade_bound)}: {other.sentence}"
        cost = f" It takes {each.times:.2g} times as long." if each.times else ""
        texts.append((_code(other.expression or other.target), f"{graded}{cost}"))
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
    yield "again", _code(record.repeat)
