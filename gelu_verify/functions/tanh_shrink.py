"""tanh_shrink(x) = x - tanh(x), and its derivative, tanh(x)^2."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial

from ..formats import Dyadic
from . import _logistic
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Interval, Terms, magnitude_exponent, plus


@cache
def _coefficients(count: int) -> tuple[Fraction, ...]:
    """Magnitudes of those of x, x^3, ... in tanh x: tangent numbers over factorials (Brent and Harvey, arXiv:1108.0286,
    algorithm 3: in integers, because fractions are reduced at each step)."""
    tangent = [1]
    for k in range(1, count):
        tangent.append(k * tangent[-1])
    for k in range(1, count):
        for j in range(k, count):
            tangent[j] = (j - k) * tangent[j - 1] + (j - k + 2) * tangent[j]
    return tuple(Fraction(number, factorial(2 * n + 1)) for n, number in enumerate(tangent))


def rest_of_tanh(c: Enclosure, t: Interval) -> Interval:
    """t - tanh(t) with relative accuracy: below 1/16 its series, whose terms fall and alternate."""
    if magnitude_exponent(t) > -4:
        return c.with_extra(12, lambda: t - c.tanh(t))
    squared, n = t * t, c.precision // 9 + 2
    *coefficients, last = _coefficients(n + 1)[1:]
    whole = last.numerator * c.between(0, 1, 0) / last.denominator
    for each in reversed(coefficients):
        whole = c.rational(*each.as_integer_ratio()) - squared * whole
    return t * squared * whole


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """Beside x - 1 and x + 1 for large x, beside x for those to which 1 is nothing."""
    point = c.exact(x)
    if _logistic.is_small(point):
        return Terms(ZERO, rest_of_tanh(c, point))
    rest = 2 * _logistic.lower_share(c, 2 * abs(point))
    if magnitude_exponent(point) > 200:
        return Terms(x, rest - 1 if point > 0 else 1 - rest)
    return Terms(plus(x, -1), rest) if point > 0 else Terms(plus(x, 1), -rest)


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """tanh(x)^2 = 1 - 4 e/(1 + e)^2, e = e^(-2 |x|)."""
    point = c.exact(x)
    if _logistic.is_small(point):
        return Terms(ZERO, c.tanh(point) ** 2)
    e = c.exp(-2 * abs(point))
    return Terms(ONE, -4 * e / (1 + e) ** 2)


ENTRIES = (
    Function(
        name="tanh_shrink",
        formula="x - tanh(x)",
        group="baseline",
        terms=terms,
        at_minus_infinity="-inf",
        at_plus_infinity="inf",
        at_zero="x",
        symmetry="odd",
        sign="x",
        at_most_x=True,
        arb=lambda x: x - x.tanh(),
    ),
    Function(
        name="tanh_shrink_grad",
        formula="tanh(x)^2",
        group="baseline",
        gradient_of="tanh_shrink",
        terms=gradient,
        at_minus_infinity="1",
        at_plus_infinity="1",
        at_zero="0",
        symmetry="even",
        turning_points=("0",),
        falls_first=True,
        lower="0",
        upper="1",
        sign="+",
        arb=lambda x: x.tanh() ** 2,
    ),
)
