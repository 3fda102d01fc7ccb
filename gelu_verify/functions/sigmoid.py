"""The logistic function."""

from __future__ import annotations

from . import _logistic
from .base import Function

SIGMOID = Function(
    name="sigmoid",
    formula="1 / (1 + exp(-x))",
    group="block",
    terms=_logistic.sigmoid,
    at_minus_infinity="0",
    at_plus_infinity="1",
    at_zero="0.5",
    lower="0",
    upper="1",
    sign="+",
)
ENTRIES = (SIGMOID,)
