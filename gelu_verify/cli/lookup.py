"""`lookup`: the right answer for an input, to the last bit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError

if TYPE_CHECKING:
    from ..formats import Format


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("function")
@click.argument("dtype")
@click.argument("x", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object for one X, a list for several.")
@click.option("--digits", type=click.IntRange(1, 5000), default=40, show_default=True, help="Digits of decimal values.")
def lookup(function: str, dtype: str, x: tuple[str, ...], as_json: bool, digits: int) -> None:
    """The correctly rounded FUNCTION(X) in DTYPE, with the true value behind it.

    X is a decimal (-6.5), a hex float (-0x1.ap+2), bits (0xc0d00000), inf or nan; decimals and hex floats are
    rounded to DTYPE first. Neighbours are the numbers of DTYPE next to X, and their results.
    """
    from ..formats import get_format
    from ..functions import get_function

    get_function(function)
    fmt = get_format(dtype)
    for text in x:
        if text.startswith("--"):
            raise UsageError(f"no such option: {text}")
    entries = [_entry(function, fmt, bits, digits) for bits in [fmt.parse(text) for text in x]]
    if as_json:
        click.echo(json.dumps(entries[0] if len(entries) == 1 else entries, indent=2))
    else:
        click.echo("\n\n".join(_text(entry) for entry in entries))


def _entry(function: str, fmt: Format, x_bits: int, digits: int) -> dict[str, Any]:
    """One answer, as `--json` prints it (docs/json.md)."""
    import numpy as np

    from ..reference import exact, judge, reference_bits

    pair = _pair(function, fmt, x_bits, digits)
    y_bits = reference_bits(function, fmt.name, x_bits)
    finite = fmt.is_finite(x_bits)
    error = judge(function, fmt.name, np.array([x_bits], fmt.uint), np.array([y_bits], fmt.uint)).error[0]
    below, above = _neighbours(fmt, x_bits)
    return {
        "function": function,
        "dtype": fmt.name,
        **pair,
        "exact": exact(function, fmt.bits_text(x_bits), digits, fmt.name) if finite else pair["y"],
        "rounding_error_ulp": float(error) if np.isfinite(error) else None,
        "neighbours": {
            "below": None if below is None else _pair(function, fmt, below, digits),
            "above": None if above is None else _pair(function, fmt, above, digits),
        },
    }


def _pair(function: str, fmt: Format, x_bits: int, digits: int) -> dict[str, str]:
    """An input and its correctly rounded result, each as bits, hex float and decimal."""
    from ..reference import reference_bits

    return {
        f"{name}{form}": text
        for name, bits in (("x", x_bits), ("y", reference_bits(function, fmt.name, x_bits)))
        for form, text in (
            ("_bits", fmt.bits_text(bits)),
            ("_hex", fmt.hex_float(bits)),
            ("", _decimal(fmt, bits, digits)),
        )
    }


def _decimal(fmt: Format, bits: int, digits: int) -> str:
    from ..reference import decimal_text

    if not fmt.is_finite(bits):
        return fmt.hex_float(bits)
    if fmt.magnitude(bits) == 0:
        return "-0" if fmt.is_negative(bits) else "0"
    return decimal_text(fmt.fraction(bits), digits)


def _neighbours(fmt: Format, x_bits: int) -> tuple[int | None, int | None]:
    """The numbers next to x; both zeros count as one; none beyond an infinity or beside a NaN."""
    if fmt.is_nan(x_bits):
        return None, None
    ranks = (fmt.rank(x_bits) - 1, fmt.rank(x_bits) + 1)
    below, above = (abs(rank) | (fmt.sign_mask if rank < 0 else 0) for rank in ranks)
    return (None if fmt.is_nan(below) else below), (None if fmt.is_nan(above) else above)


def _text(entry: dict[str, Any]) -> str:
    around = {side: pair for side, pair in entry["neighbours"].items() if pair}
    rows = [("x", entry, "x"), ("y", entry, "y")]
    rows += [(f"{side}: {name}", pair, name) for side, pair in around.items() for name in "xy"]
    label = max(len(text) for text, _, _ in rows)
    wide = max(len(p[f"{n}_hex"]) for _, p, n in rows)
    lines = [f"  {text:{label}s}  {p[f'{n}_bits']}  {p[f'{n}_hex']:{wide}s}  {p[n]}" for text, p, n in rows]
    blank = " " * (len(entry["x_bits"]) + 2 + wide)
    lines.insert(2, f"  {'exact':{label}s}  {blank}  {entry['exact']}")
    error = entry["rounding_error_ulp"]
    rounding = "" if error is None else f": y is {error:+.4f} ULP from the exact value" if error else ": y is exact"
    return "\n".join([f"{entry['function']} in {entry['dtype']}{rounding}", *lines])
