"""The bound of src/cr/logistic.h: what e^-s loses, operation by operation; docs/proofs.md, section 9, says why."""

from __future__ import annotations

import re
from pathlib import Path

from flint import arb, arb_series, ctx
from prove.approximation import largest_difference
from prove.checks import piece_source
from prove.exact import from_bits, to_bits
from prove.interpreter import Interpreter
from prove.source import ROOT
from prove.tail import coefficients
from prove.tracked import UNIT, ZERO, DoubleTracking, Tracked, hull

STEPS = 32
LOG2 = arb.const_log2()
STEP = LOG2 / STEPS
MOST = 32799  # steps: |i| at the clamps
REACH = STEP / 2 * (1 + arb(2) ** -34)  # of r
PARTS_OF_R = 128
REST = arb(2) ** -88  # s as a pair, and all that follows E: fewer than 2^10 roundings of low parts, u^2 each
S_LOW = 4 * UNIT * MOST * STEP  # of a pair s


def powers(root: Path = ROOT) -> list[tuple[float, float]]:
    """2^(-j/32) as the code has it once j/32 is taken off its exponent bits, and the logarithm of what it is off."""
    text = (root / "src" / "tables" / "exp_f64.h").read_text()
    rows = [[float.fromhex(n) for n in row.split(", ")] for row in re.findall(r"^    \{(.*?)\},", text, re.MULTILINE)]
    return [(from_bits(to_bits(power) - (j << 47)), off) for j, (power, off) in enumerate(rows)]


def wrong_powers(root: Path = ROOT) -> list[int]:
    """Rows for which power e^off is not 2^(-j/32) to 2^-105."""
    return [
        j
        for j, (power, off) in enumerate(powers(root))
        if not abs(arb(power).log() + arb(off) + STEP * j) < arb(2) ** -105
    ]


def second_part(head: float, tail: float, root: Path = ROOT) -> tuple[arb, arb]:
    """The largest |second|, and what it is off: roundings, the table, and log(2)/32 as head + tail."""
    off = max(abs(off) for _, off in powers(root))
    size = MOST * abs(arb(tail)) + arb(off) + S_LOW
    return size, 2 * UNIT * size + arb(2) ** -105 + MOST * abs(STEP - arb(head) - arb(tail))


def polynomial_loss(second: arb, root: Path = ROOT) -> tuple[arb, arb]:
    """The largest p = r^2 P(r) + second, and what it is off e^r - 1 - first: roundings, that of r, coefficients."""
    tracking = DoubleTracking()
    interpreter = Interpreter(piece_source(True, root), tracking)
    largest = lost = ZERO
    by = Tracked(hull(-second, second), ZERO, ZERO, None)
    for index in range(-PARTS_OF_R, PARTS_OF_R):
        ball = hull((REACH * index / PARTS_OF_R).lower(), (REACH * (index + 1) / PARTS_OF_R).upper())
        r = Tracked(ball, arb(ball.mid()), ZERO, ZERO)
        square = tracking.multiply(r, r)
        p = tracking.fma(square, interpreter.call("gv_tail_polynomial", r, square), by)
        largest, lost = max(largest, p.ideal.abs_upper()), max(lost, p.absolute)

    def taylor(at: arb, order: int) -> list[arb]:
        ctx.cap = order + 1
        series = arb_series([at, 1])
        value = series.exp() - 1 - series
        return [value[k] for k in range(order + 1)]

    parts = largest_difference(coefficients(root), taylor, -REACH, REACH, PARTS_OF_R)
    of_r = UNIT * REACH * (REACH.exp() - 1)
    return largest, lost + of_r + max(part.error for part in parts)


def logistic_loss(head: float, tail: float, root: Path = ROOT) -> arb:
    """gv_logistic_exp of gv_logistic_reduce, relative to e^-s; head + tail stand for log(2)/32."""
    second, second_lost = second_part(head, tail, root)
    p, p_lost = polynomial_loss(second, root)
    hi = REACH.exp() * (1 + 2 * UNIT)
    hi_lost = UNIT * hi + UNIT * (REACH + p)  # its rounding, that of first + p
    lo = p + hi_lost  # power first + (power - hi), all relative to power
    lost = UNIT * lo + UNIT * hi_lost * (1 + UNIT)
    return ((p_lost + lost) / (-REACH).exp()) * second_lost.exp() + (second_lost.exp() - 1) + REST
