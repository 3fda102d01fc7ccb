"""hard_tanh(x) = min(max(x, -1), 1), and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from ._gauss import below
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms


def terms(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(x if below(x, 1) else ONE if x[0] > 0 else (-1, 0), None)


def gradient(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(ONE if below(x, 1) else ZERO, None)


ENTRIES = (
    Function(
        name="hard_tanh",
        formula="min(max(x, -1), 1)",
        group="baseline",
        terms=terms,
        at_minus_infinity="-1",
        at_plus_infinity="1",
        at_zero="x",
        approximates="tanh",
        landmarks={"border": "-1", "border, positive": "1"},
        symmetry="odd",
        lower="-1",
        upper="1",
        slope_at_zero="1",
        sign="x",
        at_most_x=True,
        arb=lambda x: x if abs(x) < 1 else x / abs(x),
    ),
    Function(
        name="hard_tanh_grad",
        formula="1 for |x| < 1, else 0",
        group="baseline",
        gradient_of="hard_tanh",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="0",
        at_zero="1",
        also={"-1": ("1",), "1": ("1",)},
        turning_points=None,
        symmetry="even",
        lower="0",
        upper="1",
        sign="+",
        either_zero=True,
        arb=lambda x: x / x if abs(x) < 1 else x * 0,
    ),
)
