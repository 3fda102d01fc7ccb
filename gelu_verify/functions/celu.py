"""celu(x) = x for x > 0, alpha (e^(x/alpha) - 1) below, and its derivative; alpha = 1 unless said: there it is elu."""

from __future__ import annotations

from ..formats import Dyadic
from . import _logistic
from .base import Function, Values, parameterized
from .enclosures import ONE, ZERO, Enclosure, Terms, dyadic, ratio
from .parameters import ALPHA


def _celu(values: Values) -> Function:
    alpha = values["alpha"]
    lowest = dyadic(-alpha)

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        """Below 0 beside x for small x, beside -alpha for large ones."""
        point = c.exact(x)
        if point > 0:
            return Terms(x, None)
        t, factor = point / ratio(c, alpha), ratio(c, alpha)
        if _logistic.is_small(t):
            return Terms(x, factor * c.expm1_rest(t))
        return Terms(lowest, factor * c.exp(t)) if lowest else Terms(ZERO, factor * c.expm1(t))

    return Function(
        name="celu",
        formula="x for x > 0, else alpha (exp(x/alpha) - 1), alpha = 1",
        general="x for x > 0, else alpha (exp(x/alpha) - 1)",
        group="block",
        terms=terms,
        at_minus_infinity=str(-alpha),
        at_plus_infinity="inf",
        at_zero="x",
        lower=str(-alpha),
        sign="x",
        at_most_x=True,
        arb=lambda x: x if x > 0 else x.expm1(),
    )


def _celu_grad(values: Values) -> Function:
    alpha = values["alpha"]

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        point = c.exact(x)
        if point > 0:
            return Terms(ONE, None)
        t = point / ratio(c, alpha)
        return Terms(ONE, c.expm1(t)) if _logistic.is_small(t) else Terms(ZERO, c.exp(t))

    return Function(
        name="celu_grad",
        formula="1 for x > 0, else exp(x/alpha), alpha = 1",
        general="1 for x > 0, else exp(x/alpha)",
        group="block",
        gradient_of="celu",
        terms=terms,
        at_minus_infinity="0",
        at_plus_infinity="1",
        at_zero="1",
        lower="0",
        upper="1",
        sign="+",
        arb=lambda x: x.exp() if x < 0 else x / x,
    )


ENTRIES = tuple(parameterized(make, ALPHA) for make in (_celu, _celu_grad))
