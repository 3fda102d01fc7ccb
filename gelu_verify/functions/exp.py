"""The exponential function."""

from __future__ import annotations

from . import _logistic
from .base import Function

ENTRIES = (
    Function(
        name="exp",
        formula="e^x",
        group="block",
        terms=_logistic.exp,
        at_minus_infinity="0",
        at_plus_infinity="inf",
        at_zero="1",
        lower="0",
        sign="+",
    ),
)
