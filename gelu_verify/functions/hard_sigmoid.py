"""hard_sigmoid(x) = min(max(x + 3, 0), 6)/6, and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import HALF, ONE, ZERO, Enclosure, Terms, exactly, fraction


def terms(c: Enclosure, x: Dyadic) -> Terms:
    value = fraction(x)
    if value <= -3:
        return Terms(ZERO, None)
    if value >= 3:
        return Terms(ONE, None)
    whole, point = exactly(c, (value + 3) / 6), c.exact(x)
    return whole if whole.correction is None or abs(point) > 1 else Terms(HALF, point / 6)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    return Terms(ZERO, c.rational(1, 6) if abs(fraction(x)) < 3 else None)


ENTRIES = (
    Function(
        name="hard_sigmoid",
        formula="min(max(x + 3, 0), 6)/6",
        group="baseline",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="1",
        at_zero="0.5",
        approximates="sigmoid",
        landmarks={"border": "-3", "border, positive": "3"},
        lower="0",
        upper="1",
        sign="+",
        either_zero=True,
        arb=lambda x: x * 0 if x <= -3 else x / x if x >= 3 else (x + 3) / 6,
    ),
    Function(
        name="hard_sigmoid_grad",
        formula="1/6 for |x| < 3, else 0",
        group="baseline",
        gradient_of="hard_sigmoid",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="0",
        at_zero="1/6",
        also={"-3": ("1/6",), "3": ("1/6",)},
        turning_points=None,
        symmetry="even",
        lower="0",
        upper="1/6",
        sign="+",
        either_zero=True,
        arb=lambda x: x / x / 6 if abs(x) < 3 else x * 0,
    ),
)
