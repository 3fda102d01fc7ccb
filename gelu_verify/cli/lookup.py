"""`lookup`: the correctly rounded value of a function at an input."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from .lines import aligned
from .options import PARAMETERS, check_given, check_order, note_overflow, parsed_inputs, whole_number

_MODES = {"up": "up", "down": "down", "zero": "towards zero", "odd": "to odd"}


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]})
@click.argument("function")
@click.argument("dtype")
@click.argument("x", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object for one X, a list for several.")
@click.option(
    "--digits", type=whole_number(1, 5000), default=40, show_default=True, help="Significant digits of decimal values."
)
@PARAMETERS
@click.option(
    "--rounding", metavar="MODE", default="nearest", show_default=True, help="nearest, up, down, zero or odd."
)
@click.option("--remote", metavar="URL", help="Ask a `gelu-verify serve` server instead of computing here.")
def lookup(
    function: str,
    dtype: str,
    x: tuple[str, ...],
    as_json: bool,
    digits: int,
    parameters: tuple[tuple[str, str], ...],
    rounding: str,
    remote: str | None,
) -> None:
    """Print the correctly rounded value of a function at X.

    X is a decimal (-6.5), a hex float (-0x1.ap+2), bits (0xc0d00000), inf or nan; decimals and hex floats are first
    rounded to DTYPE. The exact value and the values at the two neighbours of X in DTYPE are printed as well.
    """
    check_order("lookup", function, dtype)
    check_given(x)
    function = _named(function, parameters)
    ask = partial(_asked, remote) if remote else _found
    entries = ask(function, dtype, x, digits, rounding)
    if as_json:
        click.echo(json.dumps(entries[0] if len(entries) == 1 else entries, indent=2))
    else:
        click.echo("\n\n".join(_text(entry) for entry in entries))


def _named(function: str, parameters: tuple[tuple[str, str], ...]) -> str:
    from ..functions import get_function, named

    return get_function(named(function, dict(parameters))).name if parameters else function


def _found(function: str, dtype: str, x: tuple[str, ...], digits: int, rounding: str) -> list[dict[str, Any]]:
    from ..functions import get_function
    from ..truth.lookup import answer

    get_function(function)
    return [answer(function, dtype, bits, digits, rounding) for bits in parsed_inputs(dtype, x)]


def _asked(
    remote: str, function: str, dtype: str, x: tuple[str, ...], digits: int, rounding: str
) -> list[dict[str, Any]]:
    from .remote import fetch_answer

    found = [fetch_answer(remote, function, dtype, text, digits, rounding) for text in x]
    for text, entry in zip(x, found, strict=True):
        note_overflow(text, dtype, str(entry["x"]))
    return found


def _text(entry: dict[str, Any]) -> str:
    around = {side: pair for side, pair in entry["neighbours"].items() if pair}
    rows = [("x", entry, "x"), ("y", entry, "y")]
    rows += [(f"{side}: {name}", pair, name) for side, pair in around.items() for name in "xy"]
    texts = [(text, p[f"{n}_bits"], p[f"{n}_hex"], p[n]) for text, p, n in rows]
    lines = aligned([*texts[:2], ("exact", "", "", entry["exact"] or "(not computed)"), *texts[2:]])
    mode = "" if entry["rounding"] == "nearest" else f", rounded {_MODES[entry['rounding']]}"
    return "\n".join([f"{entry['function']} in {entry['dtype']}{mode}{_rounding(entry)}", *lines])


def _rounding(entry: dict[str, Any]) -> str:
    """How y comes from the exact value, for the first line."""
    y, error = entry["y"], entry["rounding_error_ulp"]
    if y in ("inf", "-inf") and entry["exact"] != y:
        return ": the exact value overflows to infinity"
    if error is None:
        return ""
    return f": y is {error:+.4f} ULP from the exact value" if error else ": y is exact"
