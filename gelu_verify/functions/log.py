"""The natural logarithm: a building block that is not defined for negative x, with a pole at zero."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """log x for x > 0; from x - 1, which is exact, near 1."""
    m, e = x
    if e < 0 and m == 1 << -e or x == ONE:
        return Terms(ZERO, None)
    point = c.exact(x)
    if 0.5 <= point and point <= 2:
        exponent = min(e, 0)
        return Terms(ZERO, c.log1p(c.exact(((m << (e - exponent)) - (1 << -exponent), exponent))))
    return Terms(ZERO, c.log(point))


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
