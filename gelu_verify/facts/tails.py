"""How the functions vanish for x -> -inf, and where their results round to zero in each format."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import flint

from ..errors import OracleError
from ..formats import DTYPES, get_format
from .balls import Ball, ball, below, derivative, difference, root, roots, sign, text
from .base import Fact
from .curves import ARGUMENTS, JETS, phi, tanh_argument, value

_RATIOS = (2, 4, 6, 8, 10)


def facts() -> Iterator[Fact]:
    yield _gelu_tail()
    for name in ARGUMENTS:
        yield _logistic_tail(name)
    yield _crossings()
    for name in JETS:
        yield from _thresholds(name)


def _gelu_tail() -> Fact:
    values = {f"gelu(-{x})/-phi({x})": text(value("gelu", ball(-x)) / -phi(ball(x))) for x in _RATIOS}
    return Fact(
        name="gelu.tail",
        topic="tail",
        statement="gelu(-x) = -phi(x) (1 - 1/x^2 + 3 q/x^4) with 0 < q < 1, for x > 0: the exact function dies "
        "as exp(-x^2/2).",
        values=values,
        proof="gelu(-x) = -x Q(x), and partial sums of the asymptotic series of Q enclose it: integration by parts.",
    )


def _logistic_tail(name: str) -> Fact:
    exponents = {
        "gelu_tanh": "2 sqrt(2/pi) (x + 0.044715 x^3): as exp(-a x - b x^3), neither as exp(-x^2/2) nor as exp(-c x^4)",
        "gelu_sigmoid": "1.702 x: as exp(-1.702 x), far slower than gelu",
        "silu": "x: as exp(-x), far slower than gelu",
    }
    values = {f"{name}(-{x})/gelu(-{x})": text(value(name, ball(-x)) / value("gelu", ball(-x))) for x in _RATIOS}
    if name == "gelu_tanh":
        a = 2 * (2 / flint.arb.pi()).sqrt()
        values = {"a": text(a), "b": text(a * ball(Fraction(44715, 10**6))), **values}
    return Fact(
        name=f"{name}.tail",
        topic="tail",
        statement=f"{name}(-x) = -x e^-s (1 - q e^-s) with 0 < q < 1, for x > 0: it dies with s = {exponents[name]}.",
        values=values,
        proof="sigmoid(-s) = e^-s/(1 + e^-s).",
    )


def _crossings() -> Fact:
    """Where gelu_tanh - gelu changes its sign: it has a zero of order four at 0."""
    gap = difference(JETS["gelu_tanh"], JETS["gelu"])
    near, end = Fraction(1, 8), Fraction(12)
    found = roots(gap, near, end)
    x = ball(end)
    if not x * (-tanh_argument(x)).exp() < phi(x) * (1 - 1 / x**2):
        raise OracleError("gelu_tanh and gelu may cross beyond 12")
    below(derivative(gap, 4), ball(0), Fraction(0), near)
    ends = [ball(near), *found, ball(end)]
    signs = [sign(gap(((a + b) / 2).mid(), 0)[0]) for a, b in pairwise(ends)]
    words = ", then ".join("above" if each > 0 else "below" for each in signs)
    return Fact(
        name="gelu_tanh.crossings",
        topic="tail",
        statement=f"gelu_tanh = gelu at 0 and at -x and x alone, for each x listed; from 0 outwards gelu_tanh is "
        f"{words} gelu.",
        values={("x" if len(found) == 1 else f"x{k}"): text(x) for k, x in enumerate(found, 1)},
        proof="The difference is even. At 0 its first three derivatives vanish, and the fourth is negative on "
        "[0, 1/8]; on "
        "[1/8, 12] interval Newton finds all zeros; beyond, x e^-s < phi(x) (1 - 1/x^2), as s' > x + 1.",
    )


def _thresholds(name: str) -> Iterator[Fact]:
    """Where |f| falls below half the smallest number, and below the smallest normal number, of each format."""
    values = {}
    for dtype in DTYPES:
        fmt = get_format(dtype)
        values[f"{dtype}: zero below"] = text(_where(name, fmt.min_exponent - 1))
        values[f"{dtype}: subnormal below"] = text(_where(name, fmt.emin))
    yield Fact(
        name=f"{name}.thresholds",
        topic="tail",
        statement=f"Correctly rounded, {name}(x) is zero from the first x of each dtype on towards -inf, and "
        f"subnormal between it and the second.",
        values=values,
        proof="f falls left of its minimum: -f(x) = 2^e has one solution there (interval Newton).",
    )


def _where(name: str, exponent: int) -> Ball:
    """The x < -2 with f(x) = -2^exponent: solved as log(-f(x)) = exponent log 2, whose slope is moderate."""
    target = exponent * flint.arb.const_log2()

    def logarithm(x: Ball, order: int) -> list[Ball]:
        jets = JETS[name](x, 1)
        return [(-jets[0]).log() - target, jets[1] / jets[0]][: order + 1]

    low, high = Fraction(-1024), Fraction(-2)
    while high - low > Fraction(1, 1 << 20):
        middle = (low + high) / 2
        low, high = (middle, high) if sign(logarithm(ball(middle), 0)[0]) < 0 else (low, middle)
    return root(logarithm, low, high)
