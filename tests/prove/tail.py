"""The bound of the float64 tails (src/cr/tail.h), operation by operation; docs/proofs.md, section 9, says why."""

from __future__ import annotations

import math
import re
from pathlib import Path

from flint import arb, arb_series
from prove.approximation import EXP_REST, largest_difference, taylor_of
from prove.checks import piece_source
from prove.float64 import Table, why_not
from prove.interpreter import Interpreter
from prove.source import ROOT
from prove.tracked import UNIT, ZERO, DoubleTracking, Tracked, hull

LOG2_64 = arb.const_log2() / 64
MOST_S = 640  # s at `to`
LEAST_S = 4  # s at `from`
REACH = LOG2_64 / 2 * (1 + arb(2) ** -34)  # of r
PARTS_OF_R = 128
PARTS = (400, 1600)
REST = arb(2) ** -88  # all that follows e^-s: fewer than 2^10 roundings of low parts, u^2 each, and 640 times that in s


def coefficients(root: Path) -> list[float]:
    """Of r^2 P(r), as the header has them: each beside its 1/n!."""
    text = (root / "src" / "cr" / "exp_lanes.h").read_text()
    found = {int(n): float.fromhex(c) for c, n in re.findall(r"(0x1\.[0-9a-f]+p-\d+) /\* 1/(\d+) \*/", text)}
    return [0.0, 0.0, 0.5, *(found[math.factorial(n)] for n in range(3, 8))]


def square_loss(fma: bool, root: Path = ROOT) -> tuple[arb, arb]:
    """The largest r^2 P(r), and what gv_tail_square is off e^r - 1 - r: roundings, coefficients, truncation."""
    interpreter = Interpreter(piece_source(fma, root), DoubleTracking())
    largest = lost = ZERO
    for index in range(-PARTS_OF_R, PARTS_OF_R):
        r = hull((REACH * index / PARTS_OF_R).lower(), (REACH * (index + 1) / PARTS_OF_R).upper())
        found = interpreter.call("gv_tail_square", Tracked(r, arb(r.mid()), ZERO, ZERO))
        largest, lost = max(largest, found.ideal.abs_upper()), max(lost, found.absolute)

    parts = largest_difference(coefficients(root), EXP_REST, -REACH, REACH, PARTS_OF_R)
    return largest, lost + max(part.error for part in parts)


def exp_loss(fma: bool, head: float, tail: float, root: Path = ROOT) -> arb:
    """gv_tail_exp, relative to e^-s."""
    m = MOST_S / LOG2_64 + 1
    constant = m * abs(LOG2_64 - arb(head) - arb(tail))
    low = m * abs(arb(tail)) + UNIT * MOST_S  # rest: m tail - s.lo
    r_lo = UNIT * REACH + 2 * UNIT * low  # at most, exact but for
    r_lost = UNIT * (2 * UNIT * low) + UNIT * r_lo
    square, square_lost = square_loss(fma, root)
    p = square + r_lo
    cross = r_lo * (REACH.exp() - 1) + r_lo * r_lo
    lost_p = square_lost + UNIT * p + r_lost + cross
    small = 2 * UNIT + 2 * UNIT * REACH + 2 * UNIT * (1 + REACH)  # t_lo (1 + r), linear.lo, sum.lo; t < 2
    lost_small = 6 * UNIT * small
    last = 2 * UNIT * (2 * p + small)  # t p + small, two roundings without fma
    table = 2 * UNIT * UNIT + 2 * UNIT * p  # of 2^(j/64) as a pair; t_lo p
    total = 2 * lost_p + lost_small + last + table  # as if t were 2 in what is lost, and 1 in what it is compared with
    return (constant.exp() - 1) + total / (1 - REACH)


def tail_table(name: str, root: Path = ROOT) -> tuple[Table, int]:
    """Rows of a tail table, and the number of the first."""
    text = (root / "src" / "tables" / f"{name}_tail_f64.h").read_text()
    rows = [[float.fromhex(n) for n in row.split(", ")] for row in re.findall(r"\{\{(.*?)\}\}", text)]
    per_unit, first = (float(re.search(rf"_TAIL_{key} (\S+)", text).group(1)) for key in ("PER_UNIT", "FIRST"))
    header = (root / "src" / "cr" / "tail.h").read_text()
    q_loss = float.fromhex(re.search(r"define GV_TAIL_Q_LOSS (\S+)", header).group(1))
    return Table(rows, 1 / arb(per_unit) / 2, arb(q_loss), False), int(first)


def mills(a: arb_series) -> arb_series:
    """M(a)/sqrt(2 pi)"""
    return (a * a / 2).exp() * (a / arb(2).sqrt()).erfc() / 2


FACTORS = {"gelu": lambda a: a * mills(a), "gelu_grad": lambda a: 1 / (2 * arb.pi()).sqrt() - mills(a) / a}


def failing_tail_pieces(name: str, root: Path = ROOT) -> list[str]:
    """Pieces of v whose bound does not hold, by the means of float64.py; and those where v <= 3/8."""
    table, first = tail_table(name, root)
    taylor, wrong = taylor_of(FACTORS[name]), []
    for index, row in enumerate(table.rows, first):
        reasons = [reason for parts in PARTS if (reason := why_not(table, taylor, index, row, parts))]
        if len(reasons) == len(PARTS):
            wrong.append(f"{name} tail, piece {index}: {reasons[-1]}")
        if not row[0] > 0.375 + abs(row[1]) + abs(row[3]):
            wrong.append(f"{name} tail, piece {index}: v may be small")
    return wrong
