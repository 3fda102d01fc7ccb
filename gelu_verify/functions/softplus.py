"""softplus(x) = log(1 + e^x), and its derivative, which is sigmoid."""

from __future__ import annotations

from dataclasses import replace

from ..formats import Dyadic
from .base import Function
from .enclosures import ZERO, Enclosure, Terms
from .sigmoid import SIGMOID


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """x + log(1 + e^-x) on the right, log(1 + e^x) on the left."""
    rest = c.log1p(c.exp(-abs(c.exact(x))))
    return Terms(x if x[0] > 0 else ZERO, rest)


ENTRIES = (
    Function(
        name="softplus",
        formula="log(1 + e^x)",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="inf",
        at_zero=lambda c: c.log(c.iv.mpf(2)),
        lower="0",
        sign="+",
    ),
    replace(
        SIGMOID,
        name="softplus_grad",
        formula="1/(1 + e^-x) = sigmoid(x)",
        group="activation",
        gradient_of="softplus",
    ),
)
