"""An attribution on a terminal: which step adds the error, region by region, and what each operation costs."""

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
_TEXTS = {
    "constants": "constants: rounding them",
    "formula": "formula: its operations, each correctly rounded",
    "blocks": "building blocks: the library's erf, tanh, exp, ...",
    "rest": "unexplained: order of operations, fused or private code",
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
    yield f"{'half ULP in x':<{_TITLE}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)
    if not known:
        yield "  (half ULP in x: the error that half an ULP of error in x causes; no formula can avoid it)"
        yield f"repeat: {record['repeat']}"
        return
    causes = [_cause(record, row["worst"]["main"]) if row["worst"] else "-" for row in record["regions"]]
    yield f"{'main cause':<{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in causes)
    yield ""
    yield from _worst(record)
    yield from _operations(record["dtype"], record["operations"][:OPERATIONS])
    yield f"repeat: {record['repeat']}"


def _cause(record: Row, source: str) -> str:
    """A source of error in less than a cell; building blocks by name."""
    if source == "blocks":
        names = ", ".join(record["blocks"])
        return names if len(names) < _CELL else "blocks"
    return "unknown" if source == "rest" else source


def _head(record: Row) -> Iterator[str]:
    yield f"  formula   {record['formula']}"
    rounding = "every operation rounded" if record["working"] == record["dtype"] else "rounded once at the end"
    yield f"  computed  in {record['working']}, {rounding}"
    if record["constants"]:
        yield "  constants " + ", ".join(stored_text(*pair) for pair in record["constants"].items())
    if record["blocks"]:
        yield "  blocks    " + ", ".join(record["blocks"].values())
    if explained := explained_text(record):
        yield f"  {explained}"
    same = text.share_text(record["agreement"])
    yield f"  agreement the measured bits at {same} of {record['n']:,} inputs (plan {record['plan']})"


def is_known(record: Row) -> bool:
    """Whether the formula is established: described, given by the user, or explained by the results."""
    return bool(record["explained"]) or record["chosen"] != "found"


def explained_text(record: Row) -> str:
    """The evidence that the target computes this formula; empty where its own description says so."""
    if record["chosen"] == "described":
        return ""
    share = text.share_text(record["explains"])
    if record["chosen"] == "asked":
        verdict = "" if record["explained"] else ", so it does not explain them"
        return f"given by --form; it reproduces {share} of the results that distinguish formulas{verdict}"
    also = f"; {', '.join(record['alike'])} would explain them as well" if record["alike"] else ""
    return f"found from the results: it reproduces {share} of those that distinguish formulas{also}"


def unexplained_text(record: Row) -> str:
    """What is known where no form explains the results."""
    share = text.share_text(record["explains"])
    known = f"no known formula reproduces more than {share} of the results that distinguish formulas"
    return f"{known}; nearest: {record['form']}"


def _unexplained(record: Row) -> Iterator[str]:
    yield f"  {unexplained_text(record)}"
    yield "  so its formula, constants and building blocks remain unknown"


def _errors(record: Row) -> Iterator[str]:
    if record["rounded"] >= max(record["explains"], _ROUNDED):
        share = text.share_text(record["rounded"])
        yield f"  results   {share} of those are correctly rounded, so they do not distinguish formulas"
    if record["computes"] != record["function"]:
        other = record["computes"]
        yield f"  computes  {other}, not {record['function']}: the errors in the table are against {other}"
    for row in record["errors"]:
        if row["max_ulp"] is None:
            continue
        size = text.ulp_text(row["max_ulp"], record["bound"])
        where = text.short_value(record["dtype"], row["x_bits"])
        own = row["function"] in (record["function"], record["computes"])
        role = "against" if own else "as an approximation of"
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
    yield f"at the largest error, x = {at}: {worst['error']:+.4g} ULP, the sum of"
    for source, cause in _TEXTS.items():
        mark = "  <- main cause" if source == worst["main"] else ""
        yield f"  {worst[source]:+12.4g}  {cause}{mark}"
    yield ""


def _operations(dtype: str, operations: Sequence[Row]) -> Iterator[str]:
    if not operations:
        return
    yield "cost of each operation: the error that rounding it alone causes, to first order"
    yield f"  {'ULP':>8}  {'amplified':>9}  {'at x':>12}  operation"
    for row in operations:
        grown = "-" if row["amplification"] is None else f"{row['amplification']:.3g}"
        name = f"{row['name']} = " if row["name"] else ""
        at = text.short_value(dtype, row["x_bits"])
        yield f"  {row['max_ulp']:8.3g}  {grown:>9}  {at:>12}  {name}{row['operation']}"
    yield ""
