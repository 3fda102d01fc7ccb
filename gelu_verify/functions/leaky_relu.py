"""leaky_relu(x) = x for x > 0, slope x below, and its derivative; slope = 0.01 unless said. Learned, it is prelu."""

from __future__ import annotations

from fractions import Fraction

from ..formats import Dyadic
from .base import Function, Values, parameterized
from .enclosures import ONE, Enclosure, Terms, exactly, fraction
from .parameters import LARGEST, Parameter

SLOPE = Parameter("slope", Fraction(1, 100), -LARGEST, LARGEST, "slope for negative x")


def _leaky(values: Values) -> Function:
    slope = values["slope"]
    return Function(
        name="leaky_relu",
        formula="x for x > 0, else slope x, slope = 0.01",
        general="x for x > 0, else slope x",
        group="baseline",
        terms=lambda c, x: Terms(x, None) if x[0] > 0 else exactly(c, slope * fraction(x)),
        at_minus_infinity="-inf" if slope > 0 else "inf" if slope < 0 else "0",
        at_plus_infinity="inf",
        at_zero="x",
        turning_points=() if slope >= 0 else ("0",),
        falls_first=slope < 0,
        lower=None if slope > 0 else "0",
        sign="x" if slope > 0 else "+",
        either_zero=slope <= 0,
        at_most_x=abs(slope) <= 1,
        arb=lambda x: x if x > 0 else x / 100,
    )


def _leaky_grad(values: Values) -> Function:
    slope = values["slope"]
    jump = {"0": ("1",)} if slope != 1 else {}

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        return Terms(ONE, None) if x[0] > 0 else exactly(c, slope)

    return Function(
        name="leaky_relu_grad",
        formula="1 for x > 0, else slope, slope = 0.01",
        general="1 for x > 0, else slope",
        group="baseline",
        gradient_of="leaky_relu",
        terms=terms,
        at_minus_infinity=str(slope),
        at_plus_infinity="1",
        at_zero=str(slope),
        also=jump,
        turning_points=() if slope <= 1 else None,
        lower=str(min(slope, Fraction(1))),
        upper=str(max(slope, Fraction(1))),
        sign="+" if slope >= 0 else "",
        arb=lambda x: x / x if x > 0 else x / x / 100,
    )


ENTRIES = tuple(parameterized(make, SLOPE) for make in (_leaky, _leaky_grad))
