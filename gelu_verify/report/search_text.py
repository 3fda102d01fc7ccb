"""A search on a terminal: the worst input, how it was looked for, and where else errors are large."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import get_format, value_text
from ..records.parts import Witness
from ..search.record import SearchOutcome, SearchPlace, SearchRecord
from . import text

PLACES = 8  # that are listed; all of them are in the JSON


def search_lines(record: SearchRecord) -> Iterator[str]:
    """The lines, in plain ASCII."""
    yield " ".join(filter(None, (record.target, record.function, record.dtype, record.version)))
    if record.failure:
        where = f" ({record.failure_range})" if record.failure_range else ""
        yield f"  FAILED    {record.failure}{where}"
    for outcome, what in ((record.nonfinite, _kind(record)), (record.wrong_sign, "wrong sign")):
        if outcome:
            yield from _outcome(record, outcome, what)
    if record.max_ulp is None or record.witness is None:
        yield "  nothing   no finite output was found"
    else:
        size = text.ulp_text(record.max_ulp, record.bound, 6)
        yield f"  largest   {record.bound} {size} ULP, {_at(record, record.witness)}"
        if record.repeated is False:
            yield "            another output when it is called with this input alone: it depends on the call"
    yield f"  {record.bound_kind:9s} {_how(record)}"
    if record.places:
        yield f"  {'ULP':>12}  {'x':>24}  found by       after inputs"
        yield from (_place(record, place) for place in record.places[:PLACES])
    if record.bound == ">=" and record.dtype != "float64":
        yield f"every {record.dtype}: gelu-verify run {record.target} --dtype {record.dtype} --plan exhaustive"
    if record.repeat_witness:
        yield f"worst input: {record.repeat_witness}"
    yield f"repeat: {record.repeat}"


def _kind(record: SearchRecord) -> str:
    """What is wrong where errors have no size."""
    fmt = get_format(record.dtype)
    if record.nonfinite is None or fmt.is_finite(want := int(record.nonfinite.witness.want_bits, 16)):
        return "NaN or infinity"
    return f"not {value_text(fmt, want)}"


def _outcome(record: SearchRecord, outcome: SearchOutcome, what: str) -> Iterator[str]:
    number = f"{outcome.count:,} inputs, the nearest to zero " if outcome.count > 1 else ""
    yield f"  WORST     {what}: {number}{_at(record, outcome.witness)}"


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


def _place(record: SearchRecord, place: SearchPlace) -> str:
    x = get_format(record.dtype).hex_float(int(place.witness.x_bits, 16))
    return f"  {text.ulp_text(place.ulp, record.bound, 6):>12}  {x:>24}  {place.found_by:13s}  {place.found_after:>12,}"
