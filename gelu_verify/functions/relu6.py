"""relu6(x) = min(max(x, 0), 6), and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms, fraction


def terms(_: Enclosure, x: Dyadic) -> Terms:
    if x[0] < 0:
        return Terms(ZERO, None)
    return Terms(x if fraction(x) < 6 else (6, 0), None)


def gradient(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(ONE if x[0] > 0 and fraction(x) < 6 else ZERO, None)


ENTRIES = (
    Function(
        name="relu6",
        formula="min(max(x, 0), 6)",
        group="baseline",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="6",
        at_zero="x",
        landmarks={"border": "6"},
        lower="0",
        upper="6",
        sign="+",
        either_zero=True,
        at_most_x=True,
        arb=lambda x: x * 0 if x <= 0 else x if x < 6 else 6 * x / x,
    ),
    Function(
        name="relu6_grad",
        formula="1 for 0 < x < 6, else 0",
        group="baseline",
        gradient_of="relu6",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="0",
        at_zero="0",
        also={"0": ("1",), "6": ("1",)},
        turning_points=None,
        lower="0",
        upper="1",
        sign="+",
        either_zero=True,
        arb=lambda x: x / x if x > 0 and x < 6 else x * 0,
    ),
)
