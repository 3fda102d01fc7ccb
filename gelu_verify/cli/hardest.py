"""`hardest`: the inputs of a function that are hardest to round."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from .options import check_apart, check_order, whole_number
from .program import say

if TYPE_CHECKING:
    from ..truth.hardest import Hardest


@click.command()
@click.argument("function")
@click.argument("dtype")
@click.option("--top", type=whole_number(1, 1 << 16), default=10, show_default=True, help="How many inputs to print.")
@click.option("--all", "everything", is_flag=True, help="Print every input that is listed.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object.")
def hardest(function: str, dtype: str, top: int, everything: bool, as_json: bool) -> None:
    """Print the inputs of FUNCTION in DTYPE that are hardest to round, the hardest first.

    Hard to round is an input whose exact result lies very close to a number of DTYPE, or to the midpoint of two. All of
    float16, bfloat16 and float32 are known; of float64 those of some intervals (docs/hardest.md).
    """
    from ..formats import get_format
    from ..truth.hardest import hardest as find

    check_order("hardest", function, dtype)
    check_apart("--all", "--top")
    found, fmt = find(function, dtype), get_format(dtype)
    order = sorted(range(len(found.x_bits)), key=lambda i: abs(found.offset[i]))
    rows: list[dict[str, Any]] = [
        {
            "x_bits": fmt.bits_text(int(found.x_bits[i])),
            "x_hex": fmt.hex_float(int(found.x_bits[i])),
            "offset_ulp": float(found.offset[i]),
            "boundary": "midpoint" if found.is_midpoint[i] else "number",
        }
        for i in (order if everything else order[:top])
    ]
    if as_json:
        click.echo(json.dumps(_document(function, dtype, found, rows), indent=2))
        return
    for line in _summary(function, dtype, found, len(rows)):
        say(line)
    for row in rows:
        side = "above" if row["offset_ulp"] > 0 else "below"
        boundary = f"{abs(row['offset_ulp']):.3e} ulp {side} a {row['boundary']}"
        say(f"  {row['x_bits']}  {row['x_hex']:26s}  {boundary}")


def _document(function: str, dtype: str, found: Hardest, rows: list[dict[str, Any]]) -> dict[str, Any]:
    from ..formats import get_format

    fmt = get_format(dtype)
    intervals = [
        {"first_bits": fmt.bits_text(each.first_bits), "last_bits": fmt.bits_text(each.last_bits), "limit": each.limit}
        for each in found.intervals or ()
    ]
    return {
        "function": function,
        "dtype": dtype,
        "limit_ulp": found.limit,
        "listed": len(found.x_bits),
        "complete": found.intervals is None,
        "intervals": intervals,
        "runs": [[fmt.bits_text(bits) for bits in run] for run in found.runs.tolist()],
        "inputs": rows,
    }


def _summary(function: str, dtype: str, found: Hardest, shown: int) -> list[str]:
    from ..formats import get_format

    fmt = get_format(dtype)
    count = f"{len(found.x_bits)} inputs are listed, {shown} shown"
    if found.intervals is None:
        lines = [f"{function} in {dtype}, every input: {count}; their offset is below {found.limit:.3g} ulp"]
        runs = [[fmt.hex_float(bits) for bits in run] for run in found.runs.tolist()]
        return lines + [f"  beside each other from {first} to {last}: not listed" for first, last in runs]
    lines = [f"{function} in {dtype}, some intervals: {count}"]
    for first_bits, last_bits, limit in found.intervals:
        first, last = fmt.hex_float(first_bits), fmt.hex_float(last_bits)
        lines.append(f"  every input from {first} to {last}: offsets below {limit:.3g} ulp")
    return lines
