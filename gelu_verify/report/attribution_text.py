"""An attribution on a terminal: which rung of the ladder adds the error, region by region, and where the digits go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..attribution.ladder import stored_text
from . import text

Row = Mapping[str, Any]

OPERATIONS = 8  # the costliest; all of them are in the JSON and the CSV
_TITLE = 12
_CELL = 10
_NAMES = {"constants": "constants", "formula": "formula", "stored": "as stored", "measured": "measured"}
_SAID = {
    "constants": "the constants",
    "formula": "the formula's own rounding",
    "blocks": "building blocks",
    "rest": "the rest: order of operations, fused or private code",
}


def attribution_lines(record: Row) -> Iterator[str]:
    """The lines, in 84 columns of plain ASCII."""
    yield " ".join(filter(None, (record["target"], record["function"], record["dtype"], record["version"])))
    yield from _head(record)
    yield ""
    names = [row["region"] for row in record["regions"]]
    yield f"{'largest ULP':<{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in names)
    for rung in record["rungs"]:
        cells = [text.ulp_text(row["max_ulp"], record["bound"]).replace(text.NONE, "-") for row in rung["regions"]]
        yield f"{_NAMES.get(rung['name'], rung['name']):<{_TITLE}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)
    mostly = [row["worst"]["main"] if row["worst"] else "-" for row in record["regions"]]
    yield f"{'mostly':<{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in mostly)
    yield ""
    yield from _worst(record)
    yield from _operations(record["dtype"], record["operations"][:OPERATIONS])
    yield f"repeat: {record['repeat']}"


def _head(record: Row) -> Iterator[str]:
    yield f"  as        {record['formula']}"
    rounding = "every operation rounded" if record["working"] == record["dtype"] else "rounded once at the end"
    yield f"  in        {record['working']}, {rounding}"
    if record["constants"]:
        yield "  constants " + ", ".join(stored_text(*pair) for pair in record["constants"].items())
    if record["blocks"]:
        yield "  blocks    " + ", ".join(record["blocks"].values())
    same = text.share_text(record["agreement"])
    yield f"  which gives the measured bits at {same} of {record['n']:,} inputs (plan {record['plan']})"


def _worst(record: Row) -> Iterator[str]:
    worst = record["worst"]
    if worst is None:
        yield "no finite error was measured"
        return
    at = f"{text.short_value(record['dtype'], worst['x_bits'])} ({worst['x_bits']})"
    yield f"at the largest error, x = {at}: {worst['error']:+.4g} ULP, which is"
    for source, said in _SAID.items():
        mark = "  <- most of it" if source == worst["main"] else ""
        yield f"  {worst[source]:+12.4g}  {said}{mark}"
    yield ""


def _operations(dtype: str, operations: Sequence[Row]) -> Iterator[str]:
    if not operations:
        return
    yield "where the digits go: what the rounding of one operation alone costs, to first order"
    yield f"  {'ULP':>8}  {'amplified':>9}  {'at x':>12}  operation"
    for row in operations:
        grown = "-" if row["amplification"] is None else f"{row['amplification']:.3g}"
        name = f"{row['name']} = " if row["name"] else ""
        at = text.short_value(dtype, row["x_bits"])
        yield f"  {row['max_ulp']:8.3g}  {grown:>9}  {at:>12}  {name}{row['operation']}"
    yield ""
