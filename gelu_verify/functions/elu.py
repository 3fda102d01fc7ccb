"""elu(x) = x for x > 0, e^x - 1 below (alpha = 1)."""

from __future__ import annotations

from . import _logistic
from .base import Function

ENTRIES = (
    Function(
        name="elu",
        formula="x for x > 0, else exp(x) - 1",
        group="baseline",
        terms=_logistic.elu,
        at_minus_infinity="-1",
        at_plus_infinity="inf",
        at_zero="x",
        approximates="gelu",
        lower="-1",
        sign="x",
        at_most_x=True,
    ),
)
