"""The complementary error function."""

from __future__ import annotations

from . import _gauss
from .base import Function

ENTRIES = (
    Function(
        name="erfc",
        formula="1 - erf(x)",
        group="block",
        terms=_gauss.erfc,
        at_minus_infinity="2",
        at_plus_infinity="0",
        at_zero="1",
        falls_first=True,
        lower="0",
        upper="2",
        sign="+",
    ),
)
