"""Constants in C against what they are said to be: each must be the nearest double, or pair, of its definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
from flint import arb, fmpq
from prove.definitions import BITS, DEFINITIONS
from prove.interpreter import Struct


def dyadic(a: arb) -> Fraction:
    """The midpoint."""
    m, e = (int(part) for part in a.mid().man_exp())
    return Fraction(m) * Fraction(2) ** e


def nearest(a: arb) -> float:
    """The double nearest to the number in a; an error where the ball does not say which."""
    middle, radius = dyadic(a), dyadic(a.rad())
    low, high = float(middle - radius), float(middle + radius)
    if low != high:
        raise ArithmeticError(f"{a} is too wide to round")
    return low


def nearest_pair(a: arb) -> tuple[float, float]:
    hi = nearest(a)
    with flint.ctx.workprec(BITS):
        return hi, nearest(a - arb(hi))


def entries(name: str, data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Paths and values of everything stored under a name: doubles and pairs."""
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield from entries(name, item, (*path, index))
    elif isinstance(data, Struct) and data.kind != "gv_dd":
        for part, item in data.fields.items():
            yield from entries(name, item, (*path, part))
    else:
        yield path, data


def wrong_entries(name: str, data: Any) -> list[str]:
    """Entries of a table that are not the nearest to their definition."""
    wrong = []
    for path, stored in entries(name, data):
        exact = DEFINITIONS[name](*path)
        got: Any = (stored.fields["hi"], stored.fields["lo"]) if isinstance(stored, Struct) else stored
        want = nearest_pair(exact) if isinstance(stored, Struct) else nearest(exact)
        if got != want:
            wrong.append(f"{name}{list(path)}: stored {got}, nearest {want}")
    return wrong


MEASURED = re.compile(r"/\* Error of .*?\*/", re.DOTALL)  # inputs, not constants
LONG_LITERAL = re.compile(r"(-?0x[01]\.[0-9a-f]{6,}p[+-]?\d+)(?:\s*/\*\s*(.*?)\s*\*/)?", re.IGNORECASE)


def expression(text: str) -> arb:
    """`2 sqrt(2/pi) 0.044715` and the like: products by spaces, exact decimals, sqrt, log, pi."""
    tokens = re.findall(r"sqrt|log|pi|[0-9.]+|[-+*/()]", text)
    python, before = "", ""
    for token in tokens:
        starts = token[0].isdigit() or token in ("sqrt", "log", "pi", "(")
        if starts and (before[-1:].isdigit() or before in (")", "pi")):
            python += "*"
        python += f"q('{token}')" if token[0].isdigit() else token
        before = token
    scope = {"q": _decimal, "sqrt": lambda a: a.sqrt(), "log": lambda a: a.log(), "pi": arb.pi()}
    return eval(python, {"__builtins__": {}}, scope)


def _decimal(text: str) -> arb:
    exact = Fraction(text)
    return arb(fmpq(exact.numerator, exact.denominator))


def named_literals(header: Path) -> dict[float, arb]:
    """What the long literals of a header stand for, by their magnitude."""
    return {
        abs(float.fromhex(literal)): expression(comment)
        for literal, comment in LONG_LITERAL.findall(MEASURED.sub("", header.read_text()))
        if comment
    }


def without_measured(text: str) -> str:
    """The text of a header, of the same length, with the errors that were found blanked."""
    return MEASURED.sub(lambda block: " " * len(block[0]), text)


def wrong_literals(header: Path) -> list[str]:
    """Long hexadecimal literals without a definition in a comment behind them, or not nearest to it."""
    wrong, known = [], set()
    for literal, comment in LONG_LITERAL.findall(without_measured(header.read_text())):
        magnitude = abs(float.fromhex(literal))
        if not comment:
            if magnitude not in known:
                wrong.append(f"{header.name}: {literal} does not say what it is")
        elif magnitude != nearest(expression(comment)):
            wrong.append(f"{header.name}: {literal} is not {comment}")
        known.add(magnitude)
    return wrong
