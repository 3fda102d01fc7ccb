"""elu(x) = x for x > 0, alpha (e^x - 1) below, and its derivative; alpha = 1 unless said."""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from . import _logistic
from ._scaled_gauss import Definition
from .base import Function, Values, parameterized
from .enclosures import ONE, ZERO, Enclosure, Terms, dyadic, ratio, times
from .limits import Limit
from .parameters import ALPHA, exact_text


def _terms(alpha: Fraction) -> Definition:
    """alpha (e^x - 1) below 0: beside alpha x for tiny x, beside -alpha for large ones."""
    factor = dyadic(alpha)

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        point = c.exact(x)
        if point > 0:
            return Terms(x, None)
        whole = ratio(c, alpha)
        if factor and not _logistic.is_small(point):
            return Terms((-factor[0], factor[1]), whole * c.exp(point))
        leading = times(x, alpha) if _logistic.is_small(point) else None
        if leading:
            return Terms(leading, whole * c.expm1_rest(point))
        top, bottom = c.exact((alpha.numerator, 0)), c.exact((alpha.denominator, 0))
        return Terms(ZERO, c.expm1(point) * top / bottom)  # 13/10 x may be a double

    return terms


def _gradient(alpha: Fraction) -> Definition:
    """alpha e^x below 0: beside alpha for tiny x."""
    factor = dyadic(alpha)

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        point = c.exact(x)
        if point > 0:
            return Terms(ONE, None)
        if factor and _logistic.is_small(point):
            return Terms(factor, ratio(c, alpha) * c.expm1(point))
        return Terms(ZERO, ratio(c, alpha) * c.exp(point))

    return terms


def _elu(values: Values) -> Function:
    alpha = values["alpha"]
    text = exact_text(alpha)
    decimal = "/" not in text and "x" not in text
    lowest: Limit = f"-{text}" if decimal else lambda c: -ratio(c, alpha)
    return Function(
        name="elu",
        formula="x for x > 0, else alpha (exp(x) - 1), alpha = 1",
        general="x for x > 0, else alpha (exp(x) - 1)",
        group="baseline",
        terms=_logistic.elu if alpha == 1 else _terms(alpha),
        at_minus_infinity=lowest,
        at_plus_infinity="inf",
        at_zero="x",
        approximates="gelu" if alpha == 1 else None,
        lower=f"-{text}" if decimal else None,
        sign="x",
        at_most_x=alpha <= 1,
    )


def _elu_grad(values: Values) -> Function:
    """At 0 alpha, as the formula says; for other alpha than 1 the derivative jumps there, and 1 is as right."""
    alpha = values["alpha"]
    return Function(
        name="elu_grad",
        formula="1 for x > 0, else alpha exp(x), alpha = 1",
        general="1 for x > 0, else alpha exp(x)",
        group="baseline",
        gradient_of="elu",
        terms=_gradient(alpha),
        at_minus_infinity="0",
        at_plus_infinity="1",
        at_zero=str(alpha),
        also={} if alpha == 1 else {"0": ("1",)},
        turning_points=() if alpha <= 1 else None,
        lower="0",
        sign="+",
    )


ENTRIES = tuple(parameterized(make, ALPHA) for make in (_elu, _elu_grad))
