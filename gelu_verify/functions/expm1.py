"""The exponential function less 1, of which the C library has a function of its own for small x."""

from __future__ import annotations

from . import _logistic
from .base import Function

ENTRIES = (
    Function(
        name="expm1",
        formula="e^x - 1",
        group="block",
        terms=_logistic.expm1,
        at_minus_infinity="-1",
        at_plus_infinity="inf",
        at_zero="x",
        lower="-1",
        sign="x",
        arb=lambda x: x.expm1(),
    ),
)
