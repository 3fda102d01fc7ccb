"""The bounds of src/cr/logistic.h: what e^-s loses, operation by operation; docs/proofs.md, section 9, says why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flint import arb
from prove.approximation import largest_difference, taylor_of
from prove.checks import piece_source
from prove.definitions import DEFINITIONS
from prove.exact import Exact, from_bits, to_bits
from prove.interpreter import Interpreter
from prove.source import ROOT, Source
from prove.tail import coefficients
from prove.tracked import UNIT, ZERO, DoubleTracking, Tracked, hull

STEPS = 32
LOG2 = arb.const_log2()
STEP = LOG2 / STEPS
MOST = 32799  # steps: |i| at the clamps
REACH = STEP / 2 * (1 + arb(2) ** -34)  # of r
PARTS_OF_R = 128
REST = arb(2) ** -93  # all that follows E: roundings of low parts; 4 u^2 of 1 - q count w times, below 2^10
S_LOW = 4 * UNIT * MOST * STEP  # of a pair s
S_LOST = 25 * UNIT**2 * MOST * STEP  # what a pair s is off


class Pair(NamedTuple):
    """Bounds on |hi|, on |lo| and on what hi + lo is off."""

    size: arb
    low: arb
    lost: arb


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
    return size, 3 * UNIT * size + arb(2) ** -105 + MOST * abs(STEP - arb(head) - arb(tail))


def parts_of_r() -> Iterator[Tracked]:
    for index in range(-PARTS_OF_R, PARTS_OF_R):
        ball = hull((REACH * index / PARTS_OF_R).lower(), (REACH * (index + 1) / PARTS_OF_R).upper())
        yield Tracked(ball, arb(ball.mid()), ZERO, ZERO)


def off_series(p: list[arb]) -> arb:
    """How far a polynomial is from e^r - 1 - r."""
    parts = largest_difference(p, taylor_of(lambda r: r.exp() - 1 - r), -REACH, REACH, PARTS_OF_R)
    return max(part.error for part in parts)


def polynomial_loss(second: arb, fma: bool, root: Path = ROOT) -> tuple[arb, arb]:
    """The largest p = r^2 P(r) + second, and what it is off e^r - 1 - first: roundings, that of r, coefficients."""
    tracking = DoubleTracking()
    interpreter = Interpreter(piece_source(fma, root), tracking)
    largest = lost = ZERO
    by = Tracked(hull(-second, second), ZERO, ZERO, None)
    for r in parts_of_r():
        square = tracking.multiply(r, r)
        p = interpreter.call("gv_lanes_exp_polynomial", r, square)
        p = interpreter.call("gv_lanes_madd", square, p, by)
        largest, lost = max(largest, p.ideal.abs_upper()), max(lost, p.absolute)
    of_r = UNIT * REACH * (REACH.exp() - 1)
    return largest, lost + of_r + off_series(coefficients(root))


def relative(lost: arb, shift: arb) -> arb:
    """Of e^-s, where `lost` is relative to `power`, and s is off by `shift`."""
    return lost / (-REACH).exp() * shift.exp() + (shift.exp() - 1) + REST


def logistic_loss(head: float, tail: float, fma: bool, root: Path = ROOT) -> arb:
    """gv_logistic_exp of gv_logistic_reduce, relative to e^-s; head + tail stand for log(2)/32."""
    second, second_lost = second_part(head, tail, root)
    p, p_lost = polynomial_loss(second, fma, root)
    hi = REACH.exp() * (1 + 2 * UNIT)
    hi_lost = UNIT * hi + 2 * UNIT * (REACH + p)  # its rounding, that of first + p, without fma that of the product
    lo = p + hi_lost  # power first + (power - hi), all relative to power
    lost = UNIT * lo + UNIT * hi_lost * (1 + UNIT)
    if not fma:  # gv_lanes_remainder rounds twice, and so does the product power p
        lost += UNIT * (lo + UNIT * REACH) + UNIT * p
    return relative(p_lost + lost, second_lost + S_LOST)


def horner(p: Pair, c: arb, h: arb) -> Pair:
    """gv_lanes_horner: h (c + p)."""
    total, low = abs(c) + p.size, p.low + UNIT * abs(c)
    lo = UNIT * total + low
    lost = p.lost + UNIT * low + UNIT * lo
    return Pair(total * h, lo * h + UNIT * total * h, (lost + UNIT * lo + UNIT * (lo + UNIT * total)) * h)


def wide_terms(root: Path = ROOT) -> list[tuple[float, float]]:
    """1/n! as the code has it, n = 0 .. 10."""
    source = Interpreter(Source("truth/tables.h", root=root), Exact())
    return [(row.fields["hi"], row.fields["lo"]) for row in source.plain("gv_exp_coefficient")[:11]]


def wide_loss(head: float, tail: float, fma: bool, root: Path = ROOT) -> arb:
    """gv_logistic_wide_exp, relative to e^-s; head + tail, a pair, stand for log(2)/32."""
    off = max(abs(off) for _, off in powers(root))
    steps_low, by_tail = UNIT * MOST * STEP + S_LOW, MOST * abs(arb(tail)) + arb(off)
    low = steps_low + by_tail
    low_lost = UNIT * steps_low + 2 * UNIT * by_tail + UNIT * low
    shift = low_lost + arb(2) ** -105 + MOST * abs(STEP - arb(head) - arb(tail)) + S_LOST
    r_low = UNIT * (REACH + low)

    tracking = DoubleTracking()
    tracking.definitions = DEFINITIONS
    interpreter = Interpreter(piece_source(fma, root), tracking)
    rest = [interpreter.call("gv_lanes_exp_rest", r) for r in parts_of_r()]
    h, c = REACH * (1 + UNIT), wide_terms(root)
    p = Pair(max(r.ideal.abs_upper() for r in rest), ZERO, max(r.absolute for r in rest))
    for n in (4, 3, 2):
        p = horner(p, arb(c[n][0]), h)
    square, by_h = p.size * h, p.low * h
    most = h + square  # |sum.hi|
    lo = UNIT * most + by_h + UNIT * square
    lost = p.lost * h + UNIT * by_h + UNIT * (by_h + UNIT * square) + UNIT * lo
    last = lo + r_low * (1 + most)
    lost += 2 * UNIT * r_low * (1 + most) + UNIT * last + r_low * (r_low + lo)  # e^r.lo is not 1 + r.lo, nor sum.hi all
    lost += UNIT * last + UNIT * (last + UNIT * most) + UNIT * (UNIT * (1 + most) + last + UNIT * most)  # times power
    series = [arb(0), arb(0), *(arb(hi) + arb(low) for hi, low in c[2:5]), *(arb(hi) for hi, _ in c[5:])]
    return relative(lost + off_series(series), shift)
