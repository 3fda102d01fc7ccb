"""log_sigmoid(x) = -log(1 + e^-x), and its derivative, sigmoid(-x)."""

from __future__ import annotations

from ..formats import Dyadic
from . import _logistic
from .base import Function
from .enclosures import ZERO, Enclosure, Terms


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """-log(1 + e^-x) on the right, x - log(1 + e^x) on the left."""
    rest = c.log1p(c.exp(-abs(c.exact(x))))
    return Terms(x if x[0] < 0 else ZERO, -rest)


ENTRIES = (
    Function(
        name="log_sigmoid",
        formula="-log(1 + e^-x)",
        group="baseline",
        terms=terms,
        at_minus_infinity="-inf",
        at_plus_infinity="-0",
        at_zero=lambda c: -c.log(c.iv.mpf(2)),
        upper="0",
        sign="-",
        arb=lambda x: -((-x).exp()).log1p(),
    ),
    Function(
        name="log_sigmoid_grad",
        formula="1/(1 + e^x) = sigmoid(-x)",
        group="baseline",
        gradient_of="log_sigmoid",
        terms=lambda c, x: _logistic.sigmoid_of(c, -c.exact(x)),
        at_minus_infinity="1",
        at_plus_infinity="0",
        at_zero="0.5",
        falls_first=True,
        lower="0",
        upper="1",
        sign="+",
        arb=lambda x: 1 / (1 + x.exp()),
    ),
)
