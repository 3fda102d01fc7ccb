"""The bound of src/cr/float_gaussian.h, piece by piece; docs/proofs.md, section 11, says why."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

from flint import arb
from prove.approximation import Taylor, largest_difference, taylor_of
from prove.float32 import FLOAT_UNIT as U
from prove.float32 import (
    LAYOUTS,
    PARTS,
    Row,
    first_quotient,
    h_is_exact,
    lost_between,
    parts_of,
    read_table,
    rounded_float,
    slope,
    stored,
)
from prove.interpreter import Interpreter
from prove.sigmoid32 import read_rate, reduced_loss
from prove.source import ROOT, Source
from prove.symbols import Symbolic, text
from prove.tail import mills
from prove.tracked import ZERO

FACTORS = {"gelu": lambda a: a * mills(a), "gelu_grad": lambda a: mills(a) - a / (2 * arb.pi()).sqrt()}
SCALE = 2**8  # of v
OF_L = arb(2) ** -46  # what the roundings of lo and of lo +- loss are below, where L is not 0
STEPS_OF_S = 16  # from one power of two to the next


def header(root: Path) -> str:
    return (root / "src" / "cr" / "float_gaussian.h").read_text()


def defined(name: str, root: Path = ROOT) -> float:
    return float.fromhex(re.search(rf"define GV_FLOAT_GAUSSIAN_{name} \(?(\S+?)f\b", header(root)).group(1))


def shift(layout: str, root: Path = ROOT) -> float:
    numbers = re.findall(r"define GV_FLOAT_GAUSSIAN_SHIFT (\S+)f\b", header(root))
    return float.fromhex(numbers[LAYOUTS.index(layout)])


def unscaled(row: Row, derivative: bool) -> Row:
    numbers = [number / SCALE for number in (row.head, row.head_low, *row.terms)]
    bound = row.bound / SCALE if derivative else row.bound
    return Row(row.centre, numbers[0], numbers[1], numbers[2:], bound, row.low, row.high)


def rows_of(name: str, layout: str, root: Path = ROOT) -> list[Row]:
    return [unscaled(row, name.endswith("_grad")) for row in read_table(f"{name}_gaussian", layout, root)]


@cache
def exp_loss(layout: str, step: int, root: Path) -> tuple[arb, arb]:
    s = arb(2) ** (arb(step) / STEPS_OF_S)
    return reduced_loss(read_rate("silu", layout, root), s, U * s, root)


def exp_loss_to(layout: str, s: arb, root: Path) -> tuple[arb, arb]:
    """What e.hi + e.lo is off, and |e.lo| at most, relative: both grow with s."""
    return exp_loss(layout, math.ceil(STEPS_OF_S * math.log2(max(float(s.upper()), 2.0**-10))), root)


def factor_lost(row: Row, h: arb, layout: str, first: bool) -> tuple[arb, arb]:
    """What v.hi + v.lo loses, and |v.lo| at most; of the first piece, v = m h, in proportion to h."""
    m, far = slope(row, h, layout), arb(1) if first else h.abs_upper()
    if first:
        size, off = m.head.abs_upper() * (1 + U), ZERO
    else:
        v = rounded_float(row.head + m.head * h)
        size, off = v.size, lost_between(stored(row.head), v, m.head * h)
    kept = (U * size + off) * (1 + U)
    second = (kept + abs(arb(row.head_low))) * (1 + U)
    low = (second + m.low * far) * (1 + U)
    return far * m.lost + off + U * (kept + second + low), low


def needed(name: str, layout: str, row: Row, root: Path = ROOT) -> arb:
    """What e^-s v loses, the rounding of lo +- loss included: relative, in a derivative in proportion to e^-s."""
    derivative, centre = name.endswith("_grad"), arb(row.centre)
    first = row.centre == 0.0 and not derivative
    p, around = [arb(row.head) + arb(row.head_low), *map(arb, row.terms)], taylor_of(FACTORS[name])
    if first:
        assert row.head == row.head_low == 0.0
        p, function = p[1:], first_quotient(around, row)
    else:
        function: Taylor = lambda h, order: around(centre + h, order)  # noqa: E731
    pieces = largest_difference(p, function, row.low - centre, row.high - centre, PARTS)
    worst = ZERO
    for part, h in zip(pieces, parts_of(row), strict=True):
        ends = [function(arb(end), 0)[0] for end in (h.lower(), h.upper())]  # v is monotone, and so is v/a
        most, least = max(v.abs_upper() for v in ends), min(v.abs_lower() for v in ends)
        e, e_low = exp_loss_to(layout, (centre + h).abs_upper() ** 2 / 2, root)
        lost, v_low = factor_lost(row, h, layout, first)
        off = part.error + lost
        lo = U * most + v_low + e_low * most
        total = (off + e * most + e * off + e_low * v_low + 3 * U * lo * (1 + 8 * U)) * (1 + arb(2) ** -20)
        worst = max(worst, total if derivative else total / least)
    return worst


def failing_rows(name: str, layout: str, root: Path = ROOT) -> list[str]:
    failing = []
    for index, row in enumerate(rows_of(name, layout, root)):
        loses = needed(name, layout, row, root) + 3 * U * row.bound + OF_L
        if not (h_is_exact(row) and loses <= row.bound):
            failing.append(f"{name}, {layout}, piece {index}: loses {float(loses.mid()):.4g}, {row.bound:.4g} is said")
    return failing


def algorithm(function: str, *arguments: object, layout: str, root: Path = ROOT) -> str:
    """What a function of float_gaussian.h returns, as formulas of its arguments."""
    tables = str(1 + LAYOUTS.index(layout))
    source = Source("cr/float_gaussian.h", root=root, macros={"GV_FLOAT_LANES": "1", "GV_FLOAT_TABLES": tables})
    return text(Interpreter(source, Symbolic(source, function)).call(function, *arguments))
