"""log1p(x) = log(1 + x), with a pole at -1, and its derivative, 1/(1 + x)."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms, exactly, fraction, magnitude_exponent


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """x - x^2 (1/2 - x (1/3 - x q)), q in [0, 1/2], for tiny x."""
    point = c.exact(x)
    if -4 * magnitude_exponent(point) > c.precision:
        rest = c.rational(1, 3) - point * c.between(0, 1, -1)
        return Terms(x, -point * point * (c.rational(1, 2) - point * rest))
    return Terms(ZERO, c.log1p(point))


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """Beside 1 for tiny x."""
    point, value = c.exact(x), exactly(c, 1 / (1 + fraction(x)))
    return Terms(ONE, -point / (1 + point)) if value.correction is not None and magnitude_exponent(point) < 0 else value


ENTRIES = (
    Function(
        name="log1p",
        formula="log(1 + x); -inf at -1, NaN for x < -1",
        group="block",
        terms=terms,
        domain=("-1", "inf"),
        at={"-1": "-inf"},
        at_minus_infinity="nan",
        at_zero="x",
        at_plus_infinity="inf",
        sign="x",
        arb=lambda x: x.log1p(),
    ),
    Function(
        name="log1p_grad",
        formula="1/(1 + x); inf at -1, NaN for x < -1",
        group="block",
        gradient_of="log1p",
        terms=gradient,
        domain=("-1", "inf"),
        at={"-1": "inf"},
        at_minus_infinity="nan",
        at_zero="1",
        at_plus_infinity="0",
        falls_first=True,
        lower="0",
        sign="+",
        arb=lambda x: 1 / (1 + x),
    ),
)
