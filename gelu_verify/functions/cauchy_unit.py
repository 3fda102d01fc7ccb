"""cauchy_unit(x) = x P(C <= x) for C of the standard Cauchy law, and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from ._gauss import below
from .base import Function
from .enclosures import HALF, ONE, ZERO, Enclosure, Interval, Terms, halve, magnitude_exponent
from .proved import proved


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """x/2 + x atan(x)/pi near zero; with u = 1/|x|: x - x atan(u)/pi on the right, x atan(u)/pi on the left.

    Of the fractions x but 0, 1 and -1 alone have a fraction for atan(x)/pi (Niven): f(1) = 3/4, f(-1) = -1/4.
    """
    point = c.exact(x)
    if abs(point) == 1:
        return Terms((3, -2) if point > 0 else (-1, -2), None)
    if below(x, 1):
        return Terms(halve(x), point * c.atan(point) / c.iv.pi)
    rest = abs(point) * c.atan(1 / abs(point)) / c.iv.pi
    return Terms(x if point > 0 else ZERO, -rest)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """1/2 + (atan(x) + x/(1 + x^2))/pi near zero; with u = 1/|x|: 1 - g(u)/pi on the right, g(u)/pi on the left."""
    point = c.exact(x)
    if below(x, 1):
        return Terms(HALF, (c.atan(point) + point / (1 + point * point)) / c.iv.pi)
    tail = atan_minus_fraction(c, 1 / abs(point)) / c.iv.pi
    return Terms(ONE, -tail) if point > 0 else Terms(ZERO, tail)


def atan_minus_fraction(c: Enclosure, u: Interval) -> Interval:
    """g(u) = atan(u) - u/(1 + u^2) for u > 0: u^3 (2/3 - 4/5 u^2 + 6/7 u^4 - ...) below 1/16, where the terms fall."""
    if magnitude_exponent(u) > -4:
        return c.with_extra(12, lambda: c.atan(u) - u / (1 + u * u))
    squared, n = u * u, c.precision // 8 + 2
    whole = c.rational(2 * n, 2 * n + 1) * c.between(0, 1, 0)
    while n > 1:
        n -= 1
        whole = c.rational(2 * n, 2 * n + 1) - squared * whole
    return u * squared * whole


ENTRIES = (
    Function(
        name="cauchy_unit",
        formula="x (1/2 + atan(x)/pi)",
        terms=terms,
        at_minus_infinity=lambda c: -1 / c.iv.pi,
        at_plus_infinity="inf",
        nan_at=("-inf",),
        at_zero="x",
        lower=proved("cauchy_unit.convex", "-1/pi"),
        slope_at_zero="0.5",
        sign="x",
        at_most_x=True,
    ),
    Function(
        name="cauchy_unit_grad",
        formula="1/2 + atan(x)/pi + x/(pi (1 + x^2))",
        gradient_of="cauchy_unit",
        either_zero=True,
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="1",
        nan_at=("-inf", "inf"),
        at_zero="0.5",
        lower="0",
        upper="1",
        sign="+",
    ),
)
