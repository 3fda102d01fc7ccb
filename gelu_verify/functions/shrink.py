"""soft_shrink(x) = x - lambda for x > lambda, x + lambda for x < -lambda, 0 between; hard_shrink(x) = x outside; and
their derivatives. lambda = 0.5 unless said."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..formats import Dyadic
from .base import Function, Values, parameterized
from .enclosures import ONE, ZERO, Enclosure, Terms, exactly, fraction
from .parameters import LARGEST, SMALLEST, Parameter

LAMBDA = Parameter("lambd", Fraction(1, 2), SMALLEST, LARGEST, "|x| up to which it is 0")


def _gradient(name: str, values: Values) -> Function:
    reach = values["lambd"]
    return Function(
        name=f"{name}_grad",
        formula="1 for |x| > lambd, else 0, lambd = 0.5",
        general="1 for |x| > lambd, else 0",
        group="baseline",
        gradient_of=name,
        terms=lambda c, x: Terms(ONE if abs(fraction(x)) > reach else ZERO, None),
        at_minus_infinity="1",
        at_plus_infinity="1",
        at_zero="0",
        also={str(-reach): ("1",), str(reach): ("1",)},
        turning_points=None,
        symmetry="even",
        lower="0",
        upper="1",
        sign="+",
        either_zero=True,
        arb=lambda x: x / x if abs(x) > 0.5 else x * 0,
    )


def _whole(name: str, formula: str, outside: Callable[[Any, Any], Any], values: Values) -> Function:
    reach = values["lambd"]

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        value = fraction(x)
        return exactly(c, outside(value, reach if value > 0 else -reach)) if abs(value) > reach else Terms(ZERO, None)

    return Function(
        name=name,
        formula=f"{formula}, lambd = 0.5",
        general=formula,
        group="baseline",
        terms=terms,
        at_minus_infinity="-inf",
        at_plus_infinity="inf",
        at_zero="x",
        landmarks={"border": str(-reach), "border, positive": str(reach)},
        symmetry="odd",
        sign="x",
        either_zero=True,
        at_most_x=True,
        arb=lambda x: outside(x, 0.5 if x > 0 else -0.5) if abs(x) > 0.5 else x * 0,
    )


def _soft(values: Values) -> Function:
    formula = "x - lambd for x > lambd, x + lambd for x < -lambd, else 0"
    return _whole("soft_shrink", formula, lambda x, border: x - border, values)


def _hard(values: Values) -> Function:
    return _whole("hard_shrink", "x for |x| > lambd, else 0", lambda x, border: x, values)


def _soft_grad(values: Values) -> Function:
    return _gradient("soft_shrink", values)


def _hard_grad(values: Values) -> Function:
    return _gradient("hard_shrink", values)


ENTRIES = tuple(parameterized(make, LAMBDA) for make in (_soft, _soft_grad, _hard, _hard_grad))
