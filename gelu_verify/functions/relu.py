"""relu(x) = max(x, 0)."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import ZERO, Enclosure, Terms


def terms(_: Enclosure, x: Dyadic) -> Terms:
    return Terms(x if x[0] > 0 else ZERO, None)


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
)
