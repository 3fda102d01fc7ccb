"""The bound of every piece of the float32 kernels, derived anew and otherwise than by the script that wrote them.

The script sums Chebyshev coefficients of the difference; here it is bounded part by part (approximation.py). The script
counts the roundings of the polynomial by hand; here they are tracked. What the two share is the list of sums in
src/cr/float_pieces.h that lose nothing, or u of themselves, and its reasons (docs/proofs.md, section 8).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flint import arb
from prove.approximation import Taylor, largest_difference
from prove.float64 import tabulated
from prove.interpreter import Interpreter
from prove.source import ROOT, Source
from prove.specifications import Specification
from prove.symbols import Symbolic, text
from prove.tracked import ZERO, DoubleTracking, Tracked, exact_product, exactly, hull, rounded

FLOAT_UNIT = arb(2) ** -24
MORE = 1 + arb(2) ** -20  # products of roundings
UNDERFLOW = arb(2) ** -140
PARTS = 96
LAYOUTS = ("registers", "rows")


@dataclass(frozen=True)
class Row:
    """A piece: its numbers and the a that belong to it."""

    centre: float
    head: float
    head_low: float
    terms: list[float]  # T1, c2, ...
    bound: float
    low: arb
    high: arb


def floats(text: str) -> list[float]:
    return [float.fromhex(number.rstrip("f")) for number in text.split(", ")]


def read_table(name: str, layout: str, root: Path = ROOT) -> list[Row]:
    text = (root / "src" / "tables" / f"{name}_f32.h").read_text()
    text = text.split("#elif")[LAYOUTS.index(layout)]
    numbers = [floats(line) for line in re.findall(r"\{+([-0-9a-fxp+., ]+)\}", text)]
    inverse, start, shift, last = re.search(r"(\S+)f, (\S+)f, (\d+), (\S+)f\s*\};", text).groups()
    inverse, start, last = map(float.fromhex, (inverse, start, last))
    rows = list(zip(*numbers, strict=True)) if layout == "registers" else numbers
    pieces = []
    for index, row in enumerate(rows):
        low, high = span(index, inverse, start, int(shift))
        high = arb(last) if index == len(rows) - 1 else high
        pieces.append(Row(row[0], row[1], row[2], list(row[3:-1]), row[-1], low if index else ZERO, high))
    return pieces


def span(index: int, inverse: float, start: float, shift: int) -> tuple[arb, arb]:
    """The a whose a inverse + start, rounded to nearest, has the bits of `start` and `index` after `shift` bits."""
    first = int(np.float32(start).view(np.uint32)) + (index << shift)
    words = (first - 1, first, first + (1 << shift) - 1, first + (1 << shift))
    sums = [arb(float(np.uint32(word).view(np.float32))) for word in words]
    return tuple(((sums[k] + sums[k + 1]) / 2 - start) / inverse for k in (0, 2))


class FloatTracking(DoubleTracking):
    """Every operation within 2^-24 relative; what underflows is charged by UNDERFLOW once."""

    def add(self, a: Tracked, b: Tracked) -> Tracked:
        total = super().add(a, b)
        return total if total.value is not None else rounded(total, FLOAT_UNIT)

    def multiply(self, a: Tracked, b: Tracked) -> Tracked:
        return rounded(super().multiply(a, b), FLOAT_UNIT)

    def fma(self, a: Tracked, b: Tracked, c: Tracked) -> Tracked:
        return rounded(super().fma(a, b, c), FLOAT_UNIT)


def exponent(x: arb) -> int:
    """Of the power of two at or below x > 0."""
    return math.frexp(float(x.lower()))[1] - 1


def trailing(x: float) -> int:
    """The exponent of the largest power of two of which x, not 0, is a multiple."""
    numerator, denominator = x.as_integer_ratio()
    return (numerator & -numerator).bit_length() - denominator.bit_length()


@dataclass(frozen=True)
class Float:
    """A float of the kernel: bounds, and the exponent of a power of two of which it is a multiple."""

    low: arb
    high: arb
    multiple: int

    @property
    def size(self) -> arb:
        return max(-self.low, self.high)


def stored(x: float) -> Float:
    return Float(arb(x), arb(x), trailing(x) if x else 100)


def rounded_float(ball: arb, multiple: int | None = None) -> Float:
    """What a number in the ball is rounded to; `multiple`: of what the number itself is a multiple, if known."""
    slack = ball.abs_upper() * FLOAT_UNIT
    low, high = arb((ball - slack).lower()), arb((ball + slack).upper())
    least = max(low, -high)
    own = exponent(least) - 23 if least > 0 else -1000
    return Float(low, high, own if multiple is None else max(multiple, own))


def lost_between(a: Float, b: Float, difference: arb) -> arb:
    """a - b, which lies in the ball `difference`."""
    if a.size == 0 or b.size == 0:
        return ZERO
    for x, y in ((a, b), (Float(-a.high, -a.low, 0), Float(-b.high, -b.low, 0))):
        if x.low >= y.high / 2 and y.low >= x.high / 2 and x.low >= 0 and y.low >= 0:
            return ZERO
    most = difference.abs_upper() * MORE
    if most <= arb(2) ** (min(a.multiple, b.multiple) + 24):
        return ZERO
    return FLOAT_UNIT * most


@dataclass(frozen=True)
class Slope:
    head: arb
    low: arb  # |m.lo| at most
    lost: arb


def slope(row: Row, h: arb, layout: str) -> Slope:
    """m.hi before it is rounded; what m.hi + m.lo loses."""
    d, x = FloatTracking(), Tracked(h, arb(h.mid()), ZERO, ZERO)
    t1, c2, *more = map(exactly, row.terms)
    if layout == "registers":
        c3, c4, c5, c6 = more
        h2 = d.multiply(x, x)
        tail = exact_product(d.fma(d.fma(c6, x, c5), h2, d.fma(c4, x, c3)), h2)  # rounded with what is added
        head, low, lost = t1.ideal + c2.ideal * h, tail.ideal.abs_upper(), tail.absolute
    else:
        c3, c4 = more
        rest = d.fma(d.fma(c4, x, c3), x, c2)
        head, low, lost = t1.ideal + rest.ideal * h, ZERO, rest.absolute * h.abs_upper()
    m = rounded_float(head)
    lost += lost_between(stored(row.terms[0]), m, head - t1.ideal)
    low += FLOAT_UNIT * m.size
    return Slope(head, (low + lost) * MORE, (lost + 2 * FLOAT_UNIT * (FLOAT_UNIT * m.size) + FLOAT_UNIT * low) * MORE)


def lost_below(row: Row, leading: arb, multiple: int | None, h: arb, m: Slope) -> arb:
    """From base on, and in lo +- loss."""
    move = -m.head * h
    head = stored(row.head)
    exact = min(head.multiple, 100 if multiple is None else multiple)
    base = rounded_float(leading - row.head, exact)
    y = rounded_float(hull(base.low, base.high) + move)
    off = lost_between(base, y, move)
    third = FLOAT_UNIT * base.size + abs(arb(row.head_low))
    second = FLOAT_UNIT * y.size + off + third
    low = second + m.low * h.abs_upper()
    return off + MORE * FLOAT_UNIT * (FLOAT_UNIT * y.size + third + second + 2 * low)


def lost(row: Row, h: arb, layout: str, derivative: bool) -> arb:
    """On either side of 0, absolute."""
    m = slope(row, h, layout)
    x = arb(1) if derivative else row.centre + h
    right = lost_below(row, x, exponent(x) - 23 if x > 0 else None, h, m)
    left = lost_below(row, ZERO, None, h, m)
    return h.abs_upper() * m.lost + max(right, left)


def parts_of(row: Row) -> Iterator[arb]:
    low, high = row.low - row.centre, row.high - row.centre
    for k in range(PARTS):
        yield hull(arb((low + (high - low) * k / PARTS).lower()), arb((low + (high - low) * (k + 1) / PARTS).upper()))


def why_not(row: Row, taylor: Taylor, layout: str, derivative: bool, last: bool) -> str:
    centre = arb(row.centre)
    around: Taylor = lambda h, order: taylor(centre + h, order)  # noqa: E731
    p = [arb(row.head) + arb(row.head_low), *map(arb, row.terms)]
    ends = row.low - centre, row.high - centre
    if not derivative and row.centre == 0.0:
        return why_not_first(row, taylor, layout)
    if not h_is_exact(row):
        return "h is not exact"
    pieces = largest_difference(p, around, *ends, PARTS)
    beyond = abs(taylor(row.high, 0)[0]) if last else ZERO  # v falls to 0 from there on, where a is clamped
    for part, h in zip(pieces, parts_of(row), strict=True):
        scale, far = (arb(1), arb(1)) if derivative else (arb((centre + h).lower()), row.high)
        needed = ((part.error + lost(row, h, layout, derivative)) / scale + beyond / far) * MORE
        if not needed <= row.bound:
            return f"loses {float(needed.mid()):.4g}, its bound is {row.bound:.4g}"
    return ""


def h_is_exact(row: Row) -> bool:
    if row.centre == 0.0:
        return True
    unit = arb(2) ** min(exponent(row.low) - 23, trailing(row.centre))
    return bool(row.high - row.centre <= unit * 2**24) and bool(row.centre - row.low <= unit * 2**24)


def why_not_first(row: Row, taylor: Taylor, layout: str) -> str:
    """t = h/2 + h^2 R(h), h = a: everything in proportion to a. m <= 1/2, so that A - y loses nothing."""
    if not (row.head == row.head_low == 0.0 and row.terms[0] == 0.5):
        return "the first piece does not begin with h/2"
    pieces = largest_difference(list(map(arb, row.terms)), first_quotient(taylor, row), ZERO, row.high, PARTS)
    if not all(c * row.high < 1 for c in row.terms[1:]) or not bend(row) < 0:
        return "m may exceed 1/2"
    worst = ZERO
    for part, h in zip(pieces, parts_of(row), strict=True):
        m = slope(row, h, layout)
        low = 2 * FLOAT_UNIT + m.low
        worst = max(worst, part.error + m.lost + MORE * FLOAT_UNIT * (FLOAT_UNIT + 2 * FLOAT_UNIT + 2 * low))
    return "" if worst * MORE <= row.bound else f"loses {float(worst.mid()):.4g}, its bound is {row.bound:.4g}"


def first_quotient(taylor: Taylor, row: Row) -> Taylor:
    """v/h of the first piece by Taylor's series around 0 with its remainder."""
    terms = 24
    v = [*taylor(ZERO, terms)[: terms + 1], taylor(hull(ZERO, row.high), terms + 1)[terms + 1]][1:]
    return lambda h, order: [
        sum((c * math.comb(k, n) * h ** (k - n) for k, c in enumerate(v) if k >= n), ZERO) for n in range(order + 1)
    ]


def bend(row: Row) -> arb:
    """The largest (m - 1/2)/h."""
    return row.terms[1] + sum((abs(c) * row.high**k for k, c in enumerate(row.terms[2:], 1)), ZERO)


def failing_pieces(name: str, layout: str, specification: Specification, root: Path = ROOT) -> list[str]:
    derivative = name.endswith("_grad")
    taylor, table = tabulated(specification, derivative), read_table(name, layout, root)
    reasons = [why_not(row, taylor, layout, derivative, row is table[-1]) for row in table]
    return [f"{name}, {layout}, piece {index}: {reason}" for index, reason in enumerate(reasons) if reason]


def algorithm(layout: str, function: str, *arguments: object, root: Path = ROOT) -> str:
    """What a function of float_pieces.h returns, as formulas of its arguments."""
    macros = {"GV_FLOAT_LANES": "1", "GV_FLOAT_TABLES": str(1 + LAYOUTS.index(layout))}
    source = Source("cr/float_pieces.h", root=root, macros=macros)
    return text(Interpreter(source, Symbolic(source, function)).call(function, *arguments))
