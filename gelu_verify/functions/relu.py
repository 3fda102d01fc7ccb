"""relu(x) = max(x, 0), and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms


def terms(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(x if x[0] > 0 else ZERO, None)


def gradient(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(ONE if x[0] > 0 else ZERO, None)


ENTRIES = (
    Function(
        name="relu",
        formula="max(x, 0)",
        group="baseline",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="inf",
        at_zero="x",
        approximates="gelu",
        lower="0",
        sign="+",
        either_zero=True,
        at_most_x=True,
    ),
    Function(
        name="relu_grad",
        formula="1 for x > 0, else 0",
        group="baseline",
        gradient_of="relu",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="1",
        at_zero="0",
        also={"0": ("1",)},
        lower="0",
        upper="1",
        sign="+",
        either_zero=True,
        arb=lambda x: x / x if x > 0 else x * 0,
    ),
)
