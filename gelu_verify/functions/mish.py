"""mish(x) = x tanh(log(1 + e^x)), and its derivative."""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from ._logistic import is_small
from .base import Function
from .enclosures import ONE, ZERO, Enclosure, Terms, times

SLOPE = Fraction(3, 5)  # at 0
MINIMUM = "-1.19243121451549521213758834042073941"
INFLECTIONS = "-2.25637639636079312000574854395016391", "1.49057117948542845929441890819790982"


def terms(c: Enclosure, x: Dyadic) -> Terms:
    """With u = e^-|x|: x - 2 x u^2 / (1 + 2 u + 2 u^2) on the right, x (u^2 + 2 u) / (u^2 + 2 u + 2) on the left.

    Near 0 the value lies beside 3/5 x. Where that is a binary fraction, it is the leading term, and what is added is
    2/5 x (u + 3) (u - 1) / (u^2 + 2 u + 2) with u = e^x: else tiny x would need a precision of 1,000 bits.
    """
    point = c.exact(x)
    leading = times(x, SLOPE) if is_small(point) else None
    if leading:
        u = c.exp(point)
        return Terms(leading, 2 * point * (u + 3) * c.expm1(point) / (5 * (u * u + 2 * u + 2)))
    u = c.exp(-abs(point))
    if point > 0:
        return Terms(x, -2 * point * u * u / (1 + 2 * u + 2 * u * u))
    return Terms(ZERO, point * (u * u + 2 * u) / (u * u + 2 * u + 2))


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    """With u = e^-|x|: 1 + 2 u^2 (2 x (1 + u) - d) / d^2, d = 1 + 2 u + 2 u^2, on the right, and on the left
    u (u + 2) / d + 4 x u (1 + u) / d^2, d = 2 + 2 u + u^2.
    """
    point = c.exact(x)
    u = c.exp(-abs(point))
    if point > 0:
        d = 1 + 2 * u + 2 * u * u
        return Terms(ONE, 2 * u * u * (2 * point * (1 + u) - d) / (d * d))
    d = 2 + 2 * u + u * u
    return Terms(ZERO, u * ((u + 2) * d + 4 * point * (1 + u)) / (d * d))


ENTRIES = (
    Function(
        name="mish",
        formula="x tanh(log(1 + e^x))",
        terms=terms,
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        nan_at=("-inf",),
        at_zero="x",
        landmarks={"minimum": MINIMUM, "inflection": INFLECTIONS[0], "inflection, positive": INFLECTIONS[1]},
        turning_points=(MINIMUM,),
        falls_first=True,
        lower="-0.308843413017250406628760229041953728",
        slope_at_zero="0.6",
        sign="x",
        at_most_x=True,
    ),
    Function(
        name="mish_grad",
        formula="t + x (1 - t^2) sigmoid(x), t = tanh(log(1 + e^x))",
        gradient_of="mish",
        either_zero=True,
        terms=gradient,
        at_minus_infinity="-0",
        at_plus_infinity="1",
        nan_at=("-inf", "inf"),
        at_zero="0.6",
        landmarks={"root": MINIMUM, "minimum": INFLECTIONS[0], "maximum": INFLECTIONS[1]},
        turning_points=INFLECTIONS,
        falls_first=True,
        lower="-0.112526122389462556407327901148553462",
        upper="1.08849816125172786122829362739212579",
    ),
)
