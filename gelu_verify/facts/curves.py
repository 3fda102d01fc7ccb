"""The functions once more, from their formulas, in power series of Arb's balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint

from .balls import Ball, Jet, ball, jet_of

Series = Any  # flint.arb or flint.arb_series


def phi(x: Series) -> Series:
    """The density of the normal law."""
    return (x * x * (-1) / 2).exp() / (2 * flint.arb.pi()).sqrt()


def upper_tail(x: Series) -> Series:
    """Q(x) = 1 - Phi(x)."""
    return (x / flint.arb(2).sqrt()).erfc() / 2


def sigmoid(s: Series) -> Series:
    return 1 / (1 + (-s).exp())


def gelu(x: Series) -> Series:
    return x * upper_tail(-x)


def tanh_argument(x: Series) -> Series:
    """s = 2 sqrt(2/pi) (x + 0.044715 x^3)."""
    return 2 * (2 / flint.arb.pi()).sqrt() * (x + ball(Fraction(44715, 10**6)) * x * x * x)


ARGUMENTS: dict[str, Callable[[Series], Series]] = {
    "gelu_tanh": tanh_argument,
    "gelu_sigmoid": lambda x: ball(Fraction(1702, 1000)) * x,
    "silu": lambda x: x * 1,
}
"""s of the functions x sigmoid(s(x))."""


def _logistic(s: Callable[[Series], Series]) -> Callable[[Series], Series]:
    return lambda x: x * sigmoid(s(x))


FORMULAS: dict[str, Callable[[Series], Series]] = {
    "gelu": gelu,
    **{name: _logistic(s) for name, s in ARGUMENTS.items()},
}
JETS: dict[str, Jet] = {name: jet_of(f) for name, f in FORMULAS.items()}


def value(name: str, x: Ball) -> Ball:
    """f at a ball."""
    return FORMULAS[name](x)
