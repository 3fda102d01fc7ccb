"""The error function."""

from __future__ import annotations

from . import _gauss
from .base import Function

ENTRIES = (
    Function(
        name="erf",
        formula="2/sqrt(pi) * integral of exp(-t^2) over [0, x]",
        group="block",
        terms=_gauss.erf,
        at_minus_infinity="-1",
        at_plus_infinity="1",
        at_zero="x",
        lower="-1",
        upper="1",
        sign="x",
    ),
)
