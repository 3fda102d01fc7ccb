"""hard_swish(x) = x min(max(x + 3, 0), 6)/6, and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import HALF, MINUS_ZERO, ONE, ZERO, Enclosure, Terms, exactly, fraction, halve


def terms(c: Enclosure, x: Dyadic) -> Terms:
    value = fraction(x)
    if value <= -3:
        return Terms(MINUS_ZERO, None)
    if value >= 3:
        return Terms(x, None)
    whole, point = exactly(c, value * ((value + 3) / 6)), c.exact(x)
    return whole if whole.correction is None or abs(point) > 1 else Terms(halve(x), point * point / 6)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    value = fraction(x)
    if value < -3:
        return Terms(ZERO, None)
    if value > 3:
        return Terms(ONE, None)
    whole, point = exactly(c, (2 * value + 3) / 6), c.exact(x)
    return whole if whole.correction is None or abs(point) > 1 else Terms(HALF, point / 3)


ENTRIES = (
    Function(
        name="hard_swish",
        formula="x min(max(x + 3, 0), 6)/6",
        group="baseline",
        terms=terms,
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        nan_at=("-inf",),
        at_zero="x",
        approximates="silu",
        turning_points=("-1.5",),
        falls_first=True,
        landmarks={"border": "-3", "border, positive": "3"},
        lower="-0.375",
        slope_at_zero="0.5",
        sign="x",
        either_zero=True,
        at_most_x=True,
        arb=lambda x: x * 0 if x <= -3 else x if x >= 3 else x * (x + 3) / 6,
    ),
    Function(
        name="hard_swish_grad",
        formula="0 for x < -3, (2 x + 3)/6 to 3, 1 above",
        group="baseline",
        gradient_of="hard_swish",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="1",
        at_zero="0.5",
        also={"-3": ("0",), "3": ("1",)},
        turning_points=None,
        landmarks={"root": "-1.5"},
        lower="-0.5",
        upper="1.5",
        either_zero=True,
        arb=lambda x: x * 0 if x < -3 else x / x if x > 3 else (2 * x + 3) / 6,
    ),
)
