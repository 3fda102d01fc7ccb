"""The bound of the pieces of src/cr/float_cubics.h, derived anew and otherwise than by the script that wrote them.

The script sums Chebyshev coefficients of the difference over a piece; here it is bounded part by part, and roundings
are tracked. docs/proofs.md, section 8, says what both count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flint import arb, arb_series
from prove.approximation import Taylor, largest_difference, taylor_of
from prove.float32 import FLOAT_UNIT as U
from prove.float32 import MORE, FloatTracking, floats, lost_between, rounded_float, stored
from prove.interpreter import Interpreter
from prove.source import ROOT, Source
from prove.symbols import Symbolic, text
from prove.tracked import ZERO, Tracked, exactly, hull

PARTS = 32  # of a piece


def slope_tanh(a: arb_series) -> arb_series:
    return 2 * (2 / arb.pi()).sqrt() * (a + arb("0.044715") * a * a * a)


QUOTIENTS: dict[str, Taylor] = {
    "gelu": taylor_of(lambda a: (a / arb(2).sqrt()).erfc() / 2),
    "gelu_tanh": taylor_of(lambda a: 1 / (1 + slope_tanh(a).exp())),
}


@dataclass(frozen=True)
class Cubics:
    rows: list[list[float]]
    step: float
    last: float
    of_slope: float
    of_bend: float


def read_cubics(name: str, root: Path = ROOT) -> Cubics:
    written = (root / "src" / "tables" / f"{name}_cubic_f32.h").read_text()
    rows = [floats(row) for row in re.findall(r"\{\{(.*?)\}\}", written)]
    start, *numbers = floats(re.search(r"_cubic_rows,\s*(.*?)\}", written).group(1))
    return Cubics(rows, start / (3 << 22), *numbers)


def low_of(row: list[float]) -> float:
    """What T0 lacks: the last 16 bits of c3 as the first of a float."""
    return float((np.array(row[3], np.float32).view(np.uint32) << np.uint32(16)).view(np.float32))


@dataclass(frozen=True)
class Value:
    """q.hi and q.lo of a piece for h in a ball."""

    lost: arb
    slope: arb  # |m| at least
    bend: arb  # |b| at least
    low: arb  # |q.lo| at most


def value(row: list[float], h: arb) -> Value:
    d, x = FloatTracking(), Tracked(h, arb(h.mid()), ZERO, ZERO)
    t0, t1, c2, c3 = map(exactly, row)
    bend = d.fma(c3, x, c2)
    slope = d.fma(bend, x, t1)
    move = slope.ideal * h
    hi = rounded_float(t0.ideal + move)
    off = lost_between(stored(row[0]), hi, move)
    kept = (U * hi.size + off) * MORE
    low = (kept + abs(arb(low_of(row)))) * (1 + U)
    lost = h.abs_upper() * slope.absolute + off + U * (kept + low)
    return Value(lost, slope.ideal.abs_lower() - slope.absolute, bend.ideal.abs_lower() - bend.absolute, low)


def failing_rows(name: str, root: Path = ROOT) -> list[str]:
    table, taylor, failing = read_cubics(name, root), QUOTIENTS[name], []
    for index, row in enumerate(table.rows[:-1]):
        centre, radius = arb(index) * table.step, arb(table.step) / 2
        p = [arb(row[0]) + low_of(row), *map(arb, row[1:])]
        ends = (-radius if index else ZERO), radius
        pieces = largest_difference(p, lambda h, order, c=centre: taylor(c + h, order), *ends, PARTS)
        for part in pieces:
            v = value(row, hull(part.low, part.high))
            sums = 3 * U * v.low * (1 + 8 * U)  # a q.lo, lo and lo +- loss
            needed = (part.error + v.lost + sums) * MORE
            granted = (table.of_slope * v.slope + table.of_bend * max(v.bend, ZERO)) * (1 - 8 * U)
            if not needed <= granted:
                failing.append(
                    f"{name}, piece {index}: loses {float(needed.mid()):.4g}, not {float(granted.mid()):.4g}"
                )
                break
    return failing


def last_row_covers(name: str, root: Path = ROOT) -> bool:
    """From `last` on: q = 0, and the loss is q(last) or more; q falls."""
    table, taylor = read_cubics(name, root), QUOTIENTS[name]
    t0, t1, *others = table.rows[-1]
    count = len(table.rows)
    assert others == [0.0, 0.0]
    assert t0 == t1 * table.step / 2  # at h = -step/2 their sum is 0
    assert count % 2 == 1  # a tie is rounded to the even number, the last
    assert table.last == (count - 1.5) * table.step
    size = abs(taylor(arb(table.last), 0)[0])
    return bool(abs(arb(t1)) * table.of_slope * (1 - 4 * U) >= size)


def algorithm(function: str, *arguments: object, root: Path = ROOT) -> str:
    """What a function of float_cubics.h returns, as formulas of its arguments."""
    source = Source("cr/float_cubics.h", root=root, macros={"GV_FLOAT_LANES": "1", "GV_FLOAT_TABLES": "2"})
    return text(Interpreter(source, Symbolic(source, function)).call(function, *arguments))
