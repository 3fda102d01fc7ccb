"""Everything known about one result as a block of text that can be pasted into a bug report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..formats import get_format
from ..records.parts import Witness
from ..records.result import Record
from ..targets import program_of
from ..versions.since import since
from . import text

Row = Mapping[str, Any]


def evidence(row: Row, findings: Sequence[Row]) -> str:
    """The text of one row of the summary frame and its rows of the findings frame."""
    return "\n".join(_lines(row, findings))


def _lines(row: Row, findings: Sequence[Row]) -> Iterator[str]:
    yield "  ".join(str(row[name]) for name in ("target", "function", "dtype", "form", "note", "version") if row[name])
    if row["executed"]:
        yield f"executed: {row['executed']}"
    if row["executions"]:
        same = f"{text.share_text(row['executions_same'])} of outputs the same, others"
        yield f"executions: {row['executions']}; {same} up to {text.count_text(row['executions_floats'])} floats apart"
    if row["second_input"]:
        one, two = (text.share_text(row[f"pairs_{name}correctly_rounded"]) for name in ("", "composed_"))
        pairs = f"{one} of {text.count_text(row['pairs'])} pairs correctly rounded"
        yield f"worst with {row['second_input']}; {pairs}, {two} if each step is rounded"
    if row["recorded"]:
        yield "; ".join(filter(None, (row["recorded"], row["stale"])))
    if row["failure"]:
        yield f"{row['failure_kind'] or 'crashed'}: {row['failure']}"
    else:
        yield from _measures(row)
        for finding in findings:
            yield f"✗ {finding['check']}: {finding['detail'] or 'failed'}"
            if finding["x_bits"]:
                yield "  " + "   ".join(_value(row["dtype"], name, finding) for name in ("x", "got", "want"))
        defects = [finding["check"] for finding in findings if finding["severity"] == "defect"]
        named = {name: row[name] for name in ("family", "version", "target", "function", "dtype", "grade")}
        if said := since(**named, defects=defects):
            yield said
    if row["ask"]:
        yield f"ask again: {row['ask']}"
    yield f"repeat: {row['repeat']}"
    if row["x_bits"] and (
        program := program_of(row["family"], row["expression"], row["dtype"], int(row["x_bits"], 16))
    ):
        yield f"a program of the library alone:\n\n{program}"


def program_at(record: Record, witness: Witness) -> str | None:
    """A program of the library alone for an input of a result; None where there is none."""
    return program_of(record.family, record.expression, record.dtype, int(witness.x_bits, 16))


def _measures(row: Row) -> Iterator[str]:
    apart = f", {text.count_text(row['max_rank'])} floats apart" if row["max_rank"] is not None else ""
    yield f"largest error {row['bound']} {text.ulp_text(row['max_ulp'], row['bound'])} ULP{apart}"
    if row["x_bits"]:
        fmt = get_format(row["dtype"])
        for name in ("x", "got", "want"):
            bits = row[f"{name}_bits"]
            yield f"  {name:<4}  {bits}  {fmt.hex_float(int(bits, 16))}  ({row[name]})"
    narrowed = f" in {row['ranges']}" if row["ranges"] else ""
    yield f"{text.count_text(row['n'])} inputs ({row['plan']}{narrowed}, seed {row['seed']})"
    shares = (
        f"{text.share_text(row['correctly_rounded'])} correctly rounded, {text.share_text(row['faithful'])} faithful"
    )
    quantiles = f"median <= {text.number_text(row['p50_ulp'])}, 99 % <= {text.number_text(row['p99_ulp'])}"
    yield f"  {shares}; E: mean {text.number_text(row['mean_ulp'], 3, True)}, {quantiles}"
    if row["nonfinite"]:
        where = f", first at x = {row['nonfinite_x']} ({row['nonfinite_x_bits']})" if row["nonfinite_x_bits"] else ""
        yield f"  {text.count_text(row['nonfinite'])} NaN or infinite outputs where a finite value is expected{where}"
    if row["variant"] not in (None, row["function"]):
        yield f"  computes {row['variant']}, not {row['function']}"


def _value(dtype: str, name: str, holder: Row) -> str:
    return f"{name} {holder[name]} ({holder[f'{name}_bits']})" if holder[f"{name}_bits"] else f"{name} {text.NONE}"
