"""A search as a document: the worst input, how it was looked for, and where else errors are large."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from ..formats import get_format, value_text
from ..records.parts import Witness
from ..search.record import SearchRecord
from ..show.document import Block, Definitions, Document, Heading, Listing, TextTable
from . import text

PLACES = 8  # that are listed; all of them are in the JSON


def search_document(record: SearchRecord) -> Document:
    """What was found first, commands last."""
    name = " ".join(filter(None, (record.target, record.function, record.dtype, record.version)))
    kind, first = next(_found(record))
    return Document(
        title=f"the worst input of {record.target}", headline=f"{name}: {kind} {first}", blocks=_blocks(record)
    )


def _blocks(record: SearchRecord) -> list[Block]:
    rows = [
        (
            text.ulp_text(place.ulp, record.bound, 6),
            get_format(record.dtype).hex_float(int(place.witness.x_bits, 16)),
            place.found_by,
            f"{place.found_after:,}",
        )
        for place in record.places[:PLACES]
    ]
    columns = (Heading("ULP", is_number=True), "x", "found by", Heading("after inputs", is_number=True))
    found = [*_found(record), (record.bound_kind, _how(record))]
    return [Definitions(found), TextTable(columns, rows, "large errors"), Listing("\n".join(_commands(record)))]


def _found(record: SearchRecord) -> Iterator[tuple[str, str]]:
    if record.failure:
        yield "FAILED", record.failure + (f" ({record.failure_range})" if record.failure_range else "")
    for where, what in ((record.nonfinite, _kind(record)), (record.wrong_sign, "wrong sign")):
        if where:
            number = f"met {where.count:,} times, the nearest to zero " if where.count > 1 else ""
            yield "WORST", f"{what}: {number}{_at(record, where.witness)}"
    if record.max_ulp is None or record.witness is None:
        yield "nothing", "no finite output was found"
    else:
        size = text.ulp_text(record.max_ulp, record.bound, 6)
        depends = "\nanother output when it is called with this input alone: it depends on the call"
        at = f"{_at(record, record.witness)}{depends if record.repeated is False else ''}"
        yield "largest", f"{record.bound} {size} ULP, {at}"


def _kind(record: SearchRecord) -> str:
    """What is wrong where errors have no size."""
    fmt = get_format(record.dtype)
    if record.nonfinite is None or fmt.is_finite(want := int(record.nonfinite.witness.want_bits, 16)):
        return "NaN or infinity"
    return f"not {value_text(fmt, want)}"


def _at(record: SearchRecord, witness: Witness) -> str:
    x, got, want = (
        text.short_value(record.dtype, bits, 9) for bits in (witness.x_bits, witness.got_bits, witness.want_bits)
    )
    return f"x = {x} ({witness.x_bits}): got {got} ({witness.got_bits}), not {want} ({witness.want_bits})"


def _how(record: SearchRecord) -> str:
    rate = f" ({record.evaluations / record.seconds / 1e6:.1f} M/s)" if record.seconds else ""
    found = f"; found by {record.places[0].found_by} after {record.places[0].found_after:,}" if record.places else ""
    end = {"interrupted": "; interrupted", "complete": "; every finite input"}.get(record.ended, "")
    return (
        f"{record.evaluations:,} inputs in {record.seconds:.1f} s{rate}, {record.intervals:,} intervals, "
        f"seed {record.seed}{found}{end}"
    )


_OF_A_SEARCH = ("--evaluations", "--seed", "--no-seeds")  # options of `search`, not of `run`


def _of_every_input(record: SearchRecord) -> str:
    """The command that measures all inputs, with all that says how the target is called."""
    words = shlex.split(record.repeat)
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if word not in _OF_A_SEARCH and before not in _OF_A_SEARCH[:2]
    ]
    return shlex.join([kept[0], "run", *kept[2:], "--plan", "exhaustive"])


def _commands(record: SearchRecord) -> Iterator[str]:
    if record.bound == ">=" and record.dtype != "float64":
        yield f"every {record.dtype}: {_of_every_input(record)}"
    if record.repeat_witness:
        yield f"worst input: {record.repeat_witness}"
    yield f"repeat: {record.repeat}"
