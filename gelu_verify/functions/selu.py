"""selu(x) = lambda x for x > 0, lambda alpha (e^x - 1) below, and its derivative: the decimals are exact numbers.

They are those of the authors' program (Klambauer and others, 2017), to more digits than any dtype has.
"""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from .base import Function
from .enclosures import ZERO, Enclosure, Terms, exactly, fraction, ratio

LAMBDA = Fraction("1.0507009873554804934193349852946")
ALPHA = Fraction("1.6732632423543772848170429916717")
LEFT = LAMBDA * ALPHA


def terms(c: Enclosure, x: Dyadic) -> Terms:
    if x[0] > 0:
        return exactly(c, LAMBDA * fraction(x))
    return Terms(ZERO, ratio(c, LEFT) * c.expm1(c.exact(x)))


def gradient(c: Enclosure, x: Dyadic) -> Terms:
    return Terms(ZERO, ratio(c, LAMBDA) if x[0] > 0 else ratio(c, LEFT) * c.exp(c.exact(x)))


ENTRIES = (
    Function(
        name="selu",
        formula="lambda x for x > 0, else lambda alpha (e^x - 1); lambda = 1.0507..., alpha = 1.6732...",
        group="baseline",
        terms=terms,
        at_minus_infinity=str(-LEFT),
        at_plus_infinity="inf",
        at_zero="x",
        lower=str(-LEFT),
        sign="x",
        arb=lambda x: _number(x, LAMBDA) * x if x > 0 else _number(x, LEFT) * x.expm1(),
    ),
    Function(
        name="selu_grad",
        formula="lambda for x > 0, else lambda alpha e^x",
        group="baseline",
        gradient_of="selu",
        terms=gradient,
        at_minus_infinity="0",
        at_plus_infinity=str(LAMBDA),
        at_zero=str(LEFT),
        also={"0": (str(LAMBDA),)},
        turning_points=("0",),
        lower="0",
        upper=str(LEFT),
        sign="+",
        arb=lambda x: _number(x, LAMBDA) if x > 0 else _number(x, LEFT) * x.exp(),
    ),
)


def _number(x: object, value: Fraction) -> object:
    """In the arithmetic of x."""
    return type(x)(value.numerator) / value.denominator  # type: ignore[call-arg, operator]
