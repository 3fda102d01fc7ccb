"""Certified roots and maxima: interval Newton and branch-and-bound in Arb's ball arithmetic.

A function is given by its jet: `jet(x, n)` encloses f, f', ..., f^(n) on the ball x. What cannot be decided raises
OracleError; no sampled value decides anything.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

from ..errors import OracleError
from ..truth.values import decimal_text
from .base import DIGITS

Ball = Any  # flint.arb: untyped upstream
Jet = Callable[[Ball, int], list[Ball]]
BITS = 256
_SMALLEST = 2.0**-40  # of an interval that is still bisected
_NARROW = 2.0**-BITS  # of a zero that is known


def ball(low: Fraction | int, high: Fraction | int | None = None) -> Ball:
    """The ball that holds [low, high]."""
    return _rational(low) if high is None else _rational(low).union(_rational(high))


def _rational(value: Fraction | int) -> Ball:
    return flint.arb(flint.fmpq(Fraction(value).numerator, Fraction(value).denominator))


def jet_of(f: Callable[[Any], Any]) -> Jet:
    """The jet of a function written in power series of balls."""

    def jet(x: Ball, order: int) -> list[Ball]:
        try:
            found = f(flint.arb_series([x, 1], prec=order + 1)).coeffs()
        except ValueError:  # a ball so wide that a denominator may be 0
            return [flint.arb.nan()] * (order + 1)
        found += [flint.arb(0)] * (order + 1 - len(found))
        factorial = 1
        for k in range(2, order + 1):
            factorial *= k
            found[k] *= factorial
        return [*found]

    return jet


def derivative(jet: Jet, times: int = 1) -> Jet:
    return lambda x, order: jet(x, order + times)[times:]


def difference(f: Jet, g: Jet) -> Jet:
    return lambda x, order: [a - b for a, b in zip(f(x, order), g(x, order), strict=True)]


def negated(f: Jet) -> Jet:
    return lambda x, order: [-value for value in f(x, order)]


def roots(f: Jet, low: Fraction, high: Fraction) -> list[Ball]:
    """Enclosures of all zeros of f in [low, high], ascending; all are simple, and no end is one."""
    found, waiting = [], [(low, high)]
    while waiting:
        a, b = waiting.pop()
        value, slope = f(ball(a, b), 1)
        if sign(value):
            continue
        if sign(slope):
            ends = sign(f(ball(a), 0)[0]), sign(f(ball(b), 0)[0])
            if 0 in ends:
                raise OracleError(f"the sign at {a} or {b} is undecided")
            if ends[0] != ends[1]:
                found.append(root(f, a, b))
            continue
        if b - a < _SMALLEST:
            raise OracleError(f"a zero near {float(a)} is not simple")
        middle = (a + b) / 2
        waiting += [(middle, b), (a, middle)]
    return found


def root(f: Jet, low: Fraction, high: Fraction) -> Ball:
    """The only zero of f in [low, high], where f' has one sign and f has two: interval Newton."""
    x = ball(low, high)
    while x.rad() > _NARROW:
        middle = x.mid()
        narrower = x.intersection(middle - f(middle, 0)[0] / f(x, 1)[1])
        if narrower.rad() > 0.75 * x.rad():
            break
        x = narrower
    if x.rel_accuracy_bits() < BITS // 2 and not x.contains(0):
        raise OracleError(f"the zero near {x} is known to {x.rel_accuracy_bits()} bits only")
    return x


def maximum(f: Jet, low: Fraction, high: Fraction) -> tuple[Ball, Ball]:
    """(place, value) of the largest value of f on [low, high], which it takes once, inside."""
    waiting, best, cells = [(low, high)], f(ball(low), 0)[0].lower(), []
    width = (high - low) / 4096
    while waiting:
        a, b = waiting.pop()
        best = best.max(f(ball((a + b) / 2), 0)[0].lower())
        if _narrow(f, a, b) < best:
            continue
        if b - a <= width:
            cells.append((a, b))
        else:
            waiting += [((a + b) / 2, b), (a, (a + b) / 2)]
    cells = [(a, b) for a, b in cells if not _narrow(f, a, b) < best]
    first, last = min(cells)[0], max(cells)[1]
    places = [] if first == low or last == high else roots(derivative(f), first, last)
    if len(places) != 1:
        raise OracleError(f"the largest value between {float(low)} and {float(high)} is not taken once, inside")
    return places[0], f(places[0], 0)[0]


def largest(f: Jet, low: Fraction, high: Fraction) -> tuple[Ball, Ball]:
    """(place, value) of the largest |f| on [low, high], where f and -f have one sign of it each."""
    try:
        place, value = maximum(f, low, high)
        below(negated(f), value, low, high)
    except OracleError:
        place, value = maximum(negated(f), low, high)
        below(f, value, low, high)
    return place, value


def below(f: Jet, bound: Ball, low: Fraction, high: Fraction) -> None:
    """Prove f < bound on [low, high]; OracleError where it cannot."""
    waiting = [(low, high)]
    while waiting:
        a, b = waiting.pop()
        if _narrow(f, a, b) < bound:
            continue
        if b - a < _SMALLEST:
            raise OracleError(f"the bound is not proved near {float(a)}")
        waiting += [((a + b) / 2, b), (a, (a + b) / 2)]


def _narrow(f: Jet, low: Fraction, high: Fraction) -> Ball:
    """f on [low, high] by the mean value theorem: its error falls with the square of the width."""
    whole, middle = ball(low, high), ball((low + high) / 2)
    return f(middle, 0)[0] + f(whole, 1)[1] * (whole - middle)


def sign(x: Ball) -> int:
    """1 or -1, 0 where the ball holds 0."""
    return int(x > 0) - int(x < 0)


def text(x: Ball, digits: int = DIGITS) -> str:
    """The decimal to which all of the ball rounds."""
    low, high = (_fraction(end) for end in (x.lower(), x.upper()))
    if low != high and low * high <= 0:
        raise OracleError(f"no digit of {x} is certain")
    ends = decimal_text(low, digits), decimal_text(high, digits)
    if ends[0] != ends[1]:
        raise OracleError(f"{digits} digits of {x} are not certain")
    return ends[0]


def _fraction(x: Ball) -> Fraction:
    m, e = x.man_exp()
    return Fraction(int(m)) * Fraction(2) ** int(e)
