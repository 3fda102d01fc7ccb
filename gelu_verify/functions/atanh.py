"""atanh(x), with poles at -1 and 1, and its derivative, 1/(1 - x^2)."""

from __future__ import annotations

from ..formats import Dyadic
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms, exactly, fraction, magnitude_exponent


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """log(1 + 2 x/(1 - x))/2; x + x^3 (1/3 + x^2 q), q in [0, 1/4], for tiny x."""
    point = c.exact(x)
    if -4 * magnitude_exponent(point) > c.precision:
        squared = point * point
        return Terms(x, point * squared * (c.rational(1, 3) + squared * c.between(0, 1, -2)))
    size = abs(point)
    half = c.log1p(2 * size / (1 - size)) / 2
    return Terms(ZERO, half if point > 0 else -half)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """Beside 1 for tiny x."""
    squared, value = c.exact(x) * c.exact(x), exactly(c, 1 / (1 - fraction(x) * fraction(x)))
    return (
        Terms(ONE, squared / (1 - squared))
        if value.correction is not None and magnitude_exponent(squared) < 0
        else value
    )


ENTRIES = (
    Function(
        name="atanh",
        formula="inverse hyperbolic tangent; inf at 1, -inf at -1, NaN outside",
        group="block",
        terms=terms,
        domain=("-1", "1"),
        at={"-1": "-inf", "1": "inf"},
        at_minus_infinity="nan",
        at_zero="x",
        at_plus_infinity="nan",
        symmetry="odd",
        sign="x",
        arb=lambda x: x.atanh(),
    ),
    Function(
        name="atanh_grad",
        formula="1/(1 - x^2); inf at -1 and 1, NaN outside",
        group="block",
        gradient_of="atanh",
        terms=gradient,
        domain=("-1", "1"),
        at={"-1": "inf", "1": "inf"},
        at_minus_infinity="nan",
        at_zero="1",
        at_plus_infinity="nan",
        symmetry="even",
        turning_points=("0",),
        falls_first=True,
        lower="1",
        sign="+",
        arb=lambda x: 1 / (1 - x * x),
    ),
)
