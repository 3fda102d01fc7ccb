"""Terms of x * sigmoid(s(x)) and its derivative, for odd increasing s, and of the logistic blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..formats import Dyadic
from .base import Constant, Function
from .enclosures import HALF, ONE, ZERO, Enclosure, Interval, Terms, halve, magnitude_exponent
from .proved import negative, proved

Real = Callable[[np.ndarray], np.ndarray]
Slope = Callable[[Enclosure, Interval], tuple[Interval, Interval]]
"""(s(a), a s'(a)) for an interval a > 0."""


def lower_share(c: Enclosure, t: Interval) -> Interval:
    """sigmoid(-t) for t > 0."""
    e = c.exp(-t)
    return e / (1 + e)


def is_small(t: Interval) -> bool:
    """|t| < 1 or so: where the value is written around its midpoint 1/2."""
    return magnitude_exponent(t) <= 0


def scaled(slope: Slope) -> Callable[[Enclosure, Dyadic], Terms]:
    """x sigmoid(s(x)): x/2 + |x|/2 tanh(s/2) near zero, x - x q above, x q below, q = sigmoid(-s(|x|))."""

    def terms(c: Enclosure, x: Dyadic) -> Terms:
        point = c.exact(x)
        t, _ = slope(c, abs(point))
        if is_small(t):
            return Terms(halve(x), abs(point) / 2 * c.tanh(t / 2))
        rest = abs(point) * lower_share(c, t)
        return Terms(x if point > 0 else ZERO, -rest)

    return terms


def scaled_grad(slope: Slope) -> Callable[[Enclosure, Dyadic], Terms]:
    """The derivative sigma + x s' sigma (1 - sigma), written with q = sigmoid(-s(|x|))."""

    return lambda c, x: gradient(c, slope, c.exact(x))


def gradient(c: Enclosure, slope: Slope, point: Interval) -> Terms:
    """The same, of an interval."""
    t, steep = slope(c, abs(point))
    q = lower_share(c, t)
    if is_small(t):
        rest = c.tanh(t / 2) / 2 + steep * q * (1 - q)
        return Terms(HALF, rest if point > 0 else -rest)
    rest = q * (steep * (1 - q) - 1)
    return Terms(ONE, rest) if point > 0 else Terms(ZERO, -rest)


def share(c: Enclosure, slope: Slope, point: Interval) -> Terms:
    """sigmoid(s(x)), of an interval."""
    t, _ = slope(c, abs(point))
    if is_small(t):
        half = c.tanh(t / 2) / 2
        return Terms(HALF, half if point > 0 else -half)
    q = lower_share(c, t)
    return Terms(ONE, -q) if point > 0 else Terms(ZERO, q)


def variant(
    *,
    name: str,
    formula: str,
    gradient: str,
    slope: Slope,
    second_farthest: str | None = None,
    gradient_second_farthest: str | None = None,
    constants: tuple[Constant, ...] = (),
) -> tuple[Function, Function]:
    """Entries of x sigmoid(s(x)) and of its derivative, with what is proved of them.

    `second_farthest` is the negative x of the second largest difference from gelu, `gradient_second_farthest` that of
    the derivatives: decimals of at least 20 digits.
    """
    minimum, x = proved(f"{name}.minimum", "x"), proved(f"{name}.inflections", "x")
    whole = Function(
        name=name,
        formula=formula,
        terms=scaled(slope),
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        nan_at=("-inf",),
        at_zero="x",
        approximates="gelu",
        landmarks={
            "minimum": minimum,
            "inflection": negative(x),
            "inflection, positive": x,
            **_farthest("gelu", proved(f"{name}.distance", "x"), second_farthest),
        },
        constants=constants,
        turning_points=(minimum,),
        falls_first=True,
        lower=proved(f"{name}.minimum", "f(x)"),
        slope_at_zero="0.5",
        sign="x",
        at_most_x=True,
    )
    derivative = Function(
        name=f"{name}_grad",
        formula=gradient,
        gradient_of=name,
        either_zero=True,
        terms=scaled_grad(slope),
        at_minus_infinity="-0",
        at_plus_infinity="1",
        nan_at=("-inf", "inf"),
        at_zero="0.5",
        approximates="gelu_grad",
        landmarks={
            "root": minimum,
            "crosses 1": negative(minimum),
            "minimum": negative(x),
            "maximum": x,
            **_farthest("gelu_grad", proved(f"{name}_grad.distance", "x"), gradient_second_farthest),
        },
        constants=tuple(constant.in_derivative() for constant in constants),
        turning_points=(negative(x), x),
        falls_first=True,
        lower=proved(f"{name}.inflections", "f'(-x)"),
        upper=proved(f"{name}.inflections", "f'(x)"),
    )
    return whole, derivative


def through(s: Real, share: Real) -> Real:
    """Effect on x sigmoid(s) of a number that changes s by `share(x)`."""

    def effect(x: np.ndarray) -> np.ndarray:
        e = np.exp(-np.abs(s(x)))
        return np.asarray(x * share(x) * e / (1 + e) ** 2)

    return effect


def whole(s: Real) -> Real:
    """Effect on x sigmoid(s) of a factor: all of it."""
    return lambda x: x / (1 + np.exp(-s(x)))


def _farthest(other: str, largest: str, second: str | None) -> dict[str, str]:
    """The x of the largest and the second largest difference from another function, which both sides share."""
    found = {f"farthest from {other}": negative(largest), f"farthest from {other}, positive": largest}
    if second is not None:
        found |= {f"second farthest from {other}": second, f"second farthest from {other}, positive": negative(second)}
    return found


def sigmoid(c: Enclosure, x: Dyadic) -> Terms:
    return sigmoid_of(c, c.exact(x))


def sigmoid_of(c: Enclosure, t: Interval) -> Terms:
    """The same, of an interval."""
    return share(c, lambda c, a: (a, a), t)


def tanh(c: Enclosure, x: Dyadic) -> Terms:
    """x - x^3 (1/3 - r), r in [0, 2/15 x^2], for tiny x; else from expm1, or +-1 -+ 2 q."""
    point = c.exact(x)
    if is_small(point):
        if -4 * magnitude_exponent(point) > c.precision:
            squared = point * point
            return Terms(x, -point * squared * (c.rational(1, 3) - squared * c.rational(2, 15) * c.between(0, 1, 0)))
        return Terms(ZERO, c.tanh(point))
    q = lower_share(c, 2 * abs(point))
    return Terms(ONE, -2 * q) if point > 0 else Terms((-1, 0), 2 * q)


def exp(c: Enclosure, x: Dyadic) -> Terms:
    point = c.exact(x)
    return Terms(ONE, c.expm1(point)) if is_small(point) else Terms(ZERO, c.exp(point))


def expm1(c: Enclosure, x: Dyadic) -> Terms:
    """e^x - 1: x + x^2 (1/2 + x (1/6 + x q)), q in [0, 1/16], for tiny x."""
    point = c.exact(x)
    if not is_small(point):
        return Terms((-1, 0), c.exp(point))
    if -4 * magnitude_exponent(point) > c.precision:
        rest = c.rational(1, 6) + point * c.between(0, 1, -4)
        return Terms(x, point * point * (c.rational(1, 2) + point * rest))
    return Terms(ZERO, c.expm1(point))


def elu(c: Enclosure, x: Dyadic) -> Terms:
    """x for x > 0, e^x - 1 below."""
    return Terms(x, None) if c.exact(x) > 0 else expm1(c, x)
