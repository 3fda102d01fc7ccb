"""Phi, the distribution function of the normal law."""

from __future__ import annotations

from . import _gauss
from .base import Function

ENTRIES = (
    Function(
        name="normcdf",
        formula="erfc(-x/sqrt(2)) / 2",
        group="block",
        terms=_gauss.normcdf,
        at_minus_infinity="0",
        at_plus_infinity="1",
        at_zero="0.5",
        lower="0",
        upper="1",
        sign="+",
    ),
)
