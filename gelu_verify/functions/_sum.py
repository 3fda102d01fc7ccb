"""f(x + b), the sum exact, and its derivative: a function after a bias, as fused kernels compute it.

f(t) is t w(t). The derivative in b is that in x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..formats import Dyadic
from ._scaled_gauss import Definition
from ._second_input import with_second
from .base import Function
from .enclosures import HALF, ZERO, Enclosure, Terms, dyadic, fraction, ratio
from .parameters import LARGEST, Parameter, moved, named

B = Parameter("b", Fraction(0), -LARGEST, LARGEST, "number added to x, without rounding", taken_as="summand")
APART = 2**60  # times the other: then a term leads by itself
At = Callable[[Enclosure, Fraction], Terms]
"""Terms at t, a fraction that is not zero."""


def biased(name: str, function: Function, gradient: Function, share: At, slope: At) -> tuple[Function, Function]:
    """Entries of f(x + b) and of its derivative, from w and f'."""

    def whole_at(entry: Function, b: Fraction) -> Function:
        landmarks = {**entry.landmarks, "root": "0"}
        return _moved(replace(entry, terms=_whole(share, b), landmarks=landmarks), b)

    def slope_at(entry: Function, b: Fraction) -> Function:
        return _moved(replace(entry, terms=_slope(slope, b), gradient_of=named(name, {"b": b})), b)

    return (
        with_second(name, f"{function.name}(x + b)", function, B, whole_at),
        with_second(f"{name}_grad", f"{function.name}'(x + b)", gradient, B, slope_at, name),
    )


def _moved(function: Function, b: Fraction) -> Function:
    """Its facts are those of the function, at x - b, but for those about 0."""
    terms = function.terms
    return replace(
        function,
        at_zero=lambda c: terms(c, ZERO),
        landmarks={label: moved(text, -b) for label, text in function.landmarks.items()},
        turning_points=tuple(str(Fraction(text) - b) for text in function.turning_points or ()),
        sign="",
        slope_at_zero=None,
        at_most_x=False,
    )


def _whole(share: At, b: Fraction) -> Definition:
    """t w(t): t/2 + t h, t - t q or t q, as w is 1/2 + h, 1 - q or q."""

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        t = fraction(x) + b
        if t == 0:
            return Terms(ZERO, None)
        part, correction = share(c, t)
        tail = ratio(c, t) * correction
        if part == ZERO:
            return Terms(ZERO, tail)
        leading, rest = _parted(x, b)
        correction = ratio(c, rest * fraction(part)) + tail
        return Terms(ZERO if leading is None else (leading[0] * part[0], leading[1] + part[1]), correction)

    return terms


def _slope(gradient: At, b: Fraction) -> Definition:
    def terms(c: Enclosure, x: Dyadic) -> Terms:
        t = fraction(x) + b
        return gradient(c, t) if t != 0 else Terms(HALF, None)

    return terms


def _parted(x: Dyadic, b: Fraction) -> tuple[Dyadic | None, Fraction]:
    """x + b as a leading term, where there is one, and a rest."""
    point = fraction(x)
    if abs(point) > APART * abs(b):
        return x, b
    beside = dyadic(b)
    if beside is not None and APART * abs(point) < abs(b):
        return beside, point
    t: Any = point + b
    if not isinstance(t, Fraction):  # of many inputs at once: truth/carried.py
        return (t, 0), Fraction(0)
    whole = dyadic(t)
    return whole, t if whole is None else Fraction(0)
