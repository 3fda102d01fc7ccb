"""logit(x) = log(x/(1 - x)), with poles at 0 and 1, and its derivative, 1/(x (1 - x))."""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from .base import Function
from .enclosures import ZERO, Enclosure, Terms, exactly, fraction

QUARTER = Fraction(1, 4)


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """log(x) - log(1 - x); from 2 x - 1, which is exact, near 1/2: log(1 + (2 x - 1)/(1 - x))."""
    point, value = c.exact(x), fraction(x)
    if value > QUARTER and value < 3 * QUARTER:
        return Terms(ZERO, c.log1p((2 * point - 1) / (1 - point)))
    return Terms(ZERO, c.log(point) - c.log1p(-point))


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """Beside 1/x for tiny x, which is a binary fraction for powers of two alone."""
    value = fraction(x)
    return exactly(c, 1 / (value * (1 - value)))


ENTRIES = (
    Function(
        name="logit",
        formula="log(x/(1 - x)); -inf at 0, inf at 1, NaN outside",
        group="block",
        terms=terms,
        domain=("0", "1"),
        at={"0.5": "0", "1": "inf"},
        at_minus_infinity="nan",
        at_zero="-inf",
        at_plus_infinity="nan",
        arb=lambda x: (x / (1 - x)).log(),
    ),
    Function(
        name="logit_grad",
        formula="1/(x (1 - x)); inf at 0 and 1, NaN outside",
        group="block",
        gradient_of="logit",
        terms=gradient,
        domain=("0", "1"),
        at={"1": "inf"},
        at_minus_infinity="nan",
        at_zero="inf",
        at_plus_infinity="nan",
        turning_points=("0.5",),
        falls_first=True,
        lower="4",
        sign="+",
        arb=lambda x: 1 / (x * (1 - x)),
    ),
)
