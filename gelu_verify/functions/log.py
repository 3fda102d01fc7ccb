"""The natural logarithm: a building block that is not defined for negative x, with a pole at zero."""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from .base import Function
from .enclosures import ZERO, Enclosure, Terms, fraction, plus

HALF = Fraction(1, 2)


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """log x for x > 0; from x - 1, which is exact, near 1."""
    value = fraction(x)
    if value == 1:
        return Terms(ZERO, None)
    if value >= HALF and value <= 2:
        return Terms(ZERO, c.log1p(c.exact(plus(x, -1))))
    return Terms(ZERO, c.log(c.exact(x)))


ENTRIES = (
    Function(
        name="log",
        formula="natural logarithm; -inf at 0, NaN for x < 0",
        group="block",
        terms=terms,
        domain=("0", "inf"),
        at_minus_infinity="nan",
        at_zero="-inf",
        at_plus_infinity="inf",
        arb=lambda x: x.log(),
    ),
)
