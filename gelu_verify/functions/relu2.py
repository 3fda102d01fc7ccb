"""relu2(x) = max(x, 0)^2 (squared ReLU), and its derivative."""

from __future__ import annotations

from ..formats import Dyadic
from ._gauss import square
from .base import Function
from .enclosures import ZERO, Enclosure, Terms


def terms(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(square(x) if x[0] > 0 else ZERO, None)


def gradient(_: Enclosure, x: Dyadic) -> Terms:
    return Terms((x[0], x[1] + 1) if x[0] > 0 else ZERO, None)


ENTRIES = (
    Function(
        name="relu2",
        formula="max(x, 0)^2",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="inf",
        at_zero="0",
        lower="0",
        sign="+",
        either_zero=True,
    ),
    Function(
        name="relu2_grad",
        formula="2 max(x, 0)",
        gradient_of="relu2",
        either_zero=True,
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity="inf",
        at_zero="0",
        lower="0",
        sign="+",
    ),
)
