"""The hyperbolic tangent."""

from __future__ import annotations

from . import _logistic
from .base import Function

ENTRIES = (
    Function(
        name="tanh",
        formula="(e^x - e^-x) / (e^x + e^-x)",
        group="block",
        terms=_logistic.tanh,
        at_minus_infinity="-1",
        at_plus_infinity="1",
        at_zero="x",
        lower="-1",
        upper="1",
        sign="x",
    ),
)
