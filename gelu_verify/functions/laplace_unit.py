"""laplace_unit(x) = x P(L <= x) for L of the standard Laplace law, and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from . import _logistic
from .base import Function
from .enclosures import HALF, ONE, ZERO, Enclosure, Terms, halve


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """x e^x/2 on the left, x - x e^-x/2 on the right; beside x/2 near 0."""
    point = c.exact(x)
    if _logistic.is_small(point):
        return Terms(halve(x), abs(point) * -c.expm1(-abs(point)) / 2)
    rest = -abs(point) * c.exp(-abs(point)) / 2
    return Terms(x if point > 0 else ZERO, rest)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """e^x (1 + x)/2 on the left, 1 - e^-x (1 - x)/2 on the right; near 0 beside 1/2."""
    point = c.exact(x)
    size = abs(point)
    if _logistic.is_small(point):
        rest = (size * c.exp(-size) - c.expm1(-size)) / 2  # (1 - e^-a (1 - a))/2, a = |x|
        return Terms(HALF, rest if point > 0 else -rest)
    rest = c.exp(-size) * (1 - size) / 2
    return Terms(ONE, -rest) if point > 0 else Terms(ZERO, rest)


ENTRIES = (
    Function(
        name="laplace_unit",
        formula="x e^x/2 for x < 0, x (1 - e^-x/2) above",
        terms=terms,
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        nan_at=("-inf",),
        at_zero="x",
        turning_points=("-1",),
        falls_first=True,
        lower="-0.183939720585721160797761886008148215",
        slope_at_zero="0.5",
        sign="x",
        at_most_x=True,
        arb=lambda x: x * x.exp() / 2 if x < 0 else x * (1 - (-x).exp() / 2),
    ),
    Function(
        name="laplace_unit_grad",
        formula="e^x (1 + x)/2 for x < 0, 1 - e^-x (1 - x)/2 above",
        gradient_of="laplace_unit",
        terms=gradient,
        at={"-1": "0", "1": "1"},
        at_minus_infinity="-0",
        at_plus_infinity="1",
        nan_at=("-inf", "inf"),
        at_zero="0.5",
        turning_points=("-2", "2"),
        falls_first=True,
        lower="-0.0676676416183063459464744542061612402",
        upper="1.06766764161830634594647445420616124",
        either_zero=True,
        arb=lambda x: x.exp() * (1 + x) / 2 if x < 0 else 1 - (-x).exp() * (1 - x) / 2,
    ),
)
