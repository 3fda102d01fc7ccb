"""An attribution on a terminal: which rung of the ladder adds the error, region by region, and where the digits go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..attribution.ladder import stored_text
from ..formats import get_format, to_float64
from ..functions.regions import REGIONS
from . import text

Row = Mapping[str, Any]

OPERATIONS = 8  # the costliest; all of them are in the JSON and the CSV
_ROUNDED = 0.99  # of the informative results: from there on they are said to be correctly rounded
_TITLE = 14
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
    known = is_known(record)
    yield from _head(record) if known else _unexplained(record)
    yield from _errors(record)
    yield ""
    names = [row["region"] for row in record["regions"]]
    yield f"{'largest ULP':<{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in names)
    for rung in record["rungs"] if known else record["rungs"][-1:]:
        cells = [text.ulp_text(row["max_ulp"], record["bound"]).replace(text.NONE, "-") for row in rung["regions"]]
        yield f"{_NAMES.get(rung['name'], rung['name']):<{_TITLE}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)
    cells = [text.ulp_text(row["input_ulp"], record["bound"]).replace(text.NONE, "-") for row in record["regions"]]
    yield f"{'half ULP of x':<{_TITLE}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)
    if not known:
        yield "  (what half a ULP of x costs: no formula can do better with a rounded x)"
        yield f"repeat: {record['repeat']}"
        return
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
    if said := explained_text(record):
        yield f"  {said}"
    same = text.share_text(record["agreement"])
    yield f"  which gives the measured bits at {same} of {record['n']:,} inputs (plan {record['plan']})"


def is_known(record: Row) -> bool:
    """Whether the form is more than the nearest one: said by someone, or by the results."""
    return bool(record["explained"]) or record["chosen"] != "found"


def explained_text(record: Row) -> str:
    """How sure it is that the target computes this formula; empty where its own description says so."""
    if record["chosen"] == "described":
        return ""
    share = text.share_text(record["explains"])
    if record["chosen"] == "asked":
        said = "" if record["explained"] else ", so it does not explain them"
        return f"as asked for; it gives {share} of the results that tell forms apart{said}"
    also = f"; not told apart from {', '.join(record['alike'])}" if record["alike"] else ""
    return f"found by its results: it gives {share} of those that tell forms apart{also}"


def unexplained_text(record: Row) -> str:
    """What is known where no form explains the results."""
    share = text.share_text(record["explains"])
    return f"no known form gives more than {share} of the results that tell forms apart; nearest: {record['form']}"


def _unexplained(record: Row) -> Iterator[str]:
    yield f"  {unexplained_text(record)}"
    yield "  so nothing is said here of its formula, constants and building blocks"


def _errors(record: Row) -> Iterator[str]:
    if record["rounded"] >= max(record["explains"], _ROUNDED):
        share = text.share_text(record["rounded"])
        yield f"  results   are the correctly rounded ones at {share} of those: they tell of no formula"
    if record["computes"] != record["function"]:
        other = record["computes"]
        yield f"  computes  {other}, not {record['function']}: the table has the errors as {other}"
    for row in record["errors"]:
        if row["max_ulp"] is None:
            continue
        size = text.ulp_text(row["max_ulp"], record["bound"])
        where = text.short_value(record["dtype"], row["x_bits"])
        own = row["function"] in (record["function"], record["computes"])
        role = "as" if own else "as an approximation of"
        yield f"  error     {size} ULP {role} {row['function']}, at x = {where} in {_region(record, row)}"


def _region(record: Row, row: Row) -> str:
    """Name of the region that an input lies in."""
    fmt = get_format(record["dtype"])
    x = float(to_float64(fmt, np.array([int(row["x_bits"], 16)], fmt.uint))[0])
    return next(
        region.name
        for region in REGIONS
        if (region.lower is None or x >= region.lower) and (region.upper is None or x < region.upper)
    )


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
