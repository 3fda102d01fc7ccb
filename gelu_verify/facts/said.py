"""What tutorials, blogs, documentation and translations state of GELU beyond the paper: docs/seeds.md says where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import flint

from ..errors import OracleError
from .balls import Ball, ball, below, difference, jet_of, largest, negated, roots, text
from .base import Fact
from .curves import FORMULAS, JETS, Series, gelu, phi, sigmoid, upper_tail, value

END = Fraction(12)
_NEAR = Fraction(1, 97)


def facts() -> Iterator[Fact]:
    yield _said(
        "cdf",
        "GELU is derived from a smooth approximation of the CDF of the normal law.",
        "gelu(x) = x Phi(x) holds the CDF itself; what approximates it are the other forms: gelu_tanh.cumulative and "
        "gelu_sigmoid.cumulative say how closely.",
    )
    yield _density()
    yield _lost_root()
    yield _one_plus_sigmoid()
    yield _eight_tenths()
    yield _said(
        "normalization",
        "sqrt(2/pi) normalizes the outputs.",
        "It is the slope at 0 of erf(x/sqrt(2)), so that tanh(sqrt(2/pi) x) has the same one there: "
        "gelu.gradient_lipschitz, gelu_tanh.gradient_lipschitz. No factor inside the tanh bounds the outputs: they "
        "grow as x.",
        slope=(2 / flint.arb.pi()).sqrt(),
    )
    yield _spread()
    yield _said(
        "identity",
        "For small x, GELU behaves like the identity.",
        "gelu(x) = x/2 + x^2/sqrt(2 pi) + ...: like half of x.",
        **{"gelu'(0)": "0.5"},
    )
    yield _erf_and_tanh()
    yield _mean_square("gelu_tanh", -8)
    yield _mean_square("gelu_sigmoid", -4)
    yield _said(
        "gradient",
        "The gradient of GELU does not vanish, and no neuron dies.",
        "gelu' is 0 at the minimum, and |gelu'(x)| < |x| phi(x) for x < -1; below the threshold of gelu.thresholds "
        "results are 0. What is true: gelu' is not 0 on a half line, as that of relu is.",
        **{f"gelu'({x})": JETS["gelu"](ball(x), 1)[1] for x in (1, -1, -3, -6)},
    )
    yield _said(
        "kept",
        "Inputs far from 0, positive or negative, are more likely to be kept than those near 0.",
        "The probability is Phi(x), which falls to 0 for x -> -inf: claim.more_dropped.",
        **{"Phi(-3)": upper_tail(ball(3)), "Phi(0)": "0.5", "Phi(3)": upper_tail(ball(-3))},
    )
    yield _twice()
    yield _said(
        "negative",
        "GELU outputs zero for negative inputs.",
        "gelu(x) < 0 for every x < 0. Rounded, it is 0 below the threshold of gelu.thresholds only.",
        **{f"gelu({x})": value("gelu", ball(x)) for x in (-1, -2, -3)},
    )


def _said(name: str, statement: str, proof: str, verdict: str = "corrected", **values: Ball | str) -> Fact:
    """Of values that are exact, the text."""
    found = {label: each if isinstance(each, str) else text(each) for label, each in values.items()}
    return Fact(name=f"said.{name}", topic="said", statement=statement, values=found, proof=proof, verdict=verdict)


def _density() -> Fact:
    return _said(
        "density",
        "GELU(x) = x phi(x).",
        "phi is the density of the normal law, Phi its distribution function. x phi(x) is largest at 1, as its "
        "derivative is (1 - x^2) phi(x), and falls to 0 for x -> inf, where gelu grows as x.",
        **{"1 phi(1)": phi(ball(1)), "gelu(1)": value("gelu", ball(1))},
    )


def _lost_root() -> Fact:
    def s(x: Series) -> Series:
        return 4 / flint.arb.pi() * (x + ball(Fraction(44715, 10**6)) * x * x * x)

    place, size = _farthest(s)
    return _said(
        "lost_root",
        "GELU is approximated by 0.5 x (1 + tanh((2/pi) (x + 0.044715 x^3))).",
        "The root of 2/pi is lost: this form is farthest from gelu at -x and x, by d. Proved as gelu_tanh.distance.",
        **{"x": place, "d": size, "at 1": sigmoid(s(ball(1))), "gelu(1)": value("gelu", ball(1))},
    )


def _one_plus_sigmoid() -> Fact:
    return _said(
        "one_plus_sigmoid",
        "GELU is approximated by x (1 + sigmoid(1.702 x)).",
        "The 1 is too much: this is gelu_sigmoid(x) + x, wrong by x.",
        **{"at 1": 1 + value("gelu_sigmoid", ball(1)), "gelu(1)": value("gelu", ball(1))},
    )


def _eight_tenths() -> Fact:
    place, size = _farthest(lambda x: ball(Fraction(8, 5)) * x)
    return _said(
        "eight_tenths",
        "GELU is approximated by 0.5 x (1 + tanh(0.8 x)).",
        "This is x sigmoid(1.6 x), silu with beta = 8/5: farthest from gelu at -x and x, by d. Proved as "
        "gelu_tanh.distance.",
        "confirmed",
        x=place,
        d=size,
    )


def _farthest(s: Callable[[Series], Series]) -> tuple[Ball, Ball]:
    """(x, d): x sigmoid(s(x)), s odd and rising, is farthest from gelu at -x and x, by d."""
    gap = difference(jet_of(lambda x: x * sigmoid(s(x))), JETS["gelu"])
    place, size = largest(gap, _NEAR, END)
    for each in (gap, negated(gap)):
        below(each, size, Fraction(0), _NEAR)
    end = ball(END)
    if not end * (-s(end)).exp() + phi(end) < size:
        raise OracleError("the tails may be farther apart")
    return place, size


def _spread() -> Fact:
    pi = flint.arb.pi()
    mean, square = 1 / (2 * pi.sqrt()), ball(Fraction(1, 3)) + 1 / (2 * pi * flint.arb(3).sqrt())
    return _said(
        "spread",
        "Outputs of GELU are normal, or of standard deviation 1.",
        "They are bounded below (gelu.minimum), and no normal law is. For X ~ N(0, 1), E gelu(X) = 1/(2 sqrt(pi)) and "
        "E gelu(X)^2 = 1/3 + 1/(2 pi sqrt(3)), both by parts.",
        **{"mean": mean, "standard deviation": (square - mean * mean).sqrt()},
    )


def _erf_and_tanh() -> Fact:
    gap = difference(jet_of(lambda x: x.erf()), jet_of(lambda x: 2 * sigmoid(2 * x) - 1))
    place, size = largest(gap, _NEAR, END)
    for each in (gap, negated(gap)):
        below(each, size, Fraction(0), _NEAR)
    return _said(
        "erf_and_tanh",
        "erf(x) is very close to tanh(x).",
        "They are farthest apart at -x and x, by d; beyond 12 both are within 2 e^-24 of 1. Closer are erf(x/sqrt(2)) "
        "and tanh(sqrt(2/pi) (x + 0.044715 x^3)): by twice gelu_tanh.cumulative.",
        x=place,
        d=size,
    )


def _mean_square(name: str, exponent: int) -> Fact:
    whole = flint.acb.integral(lambda x, _: (FORMULAS[name](x) - gelu(x)) ** 2, 0, 10)
    return _said(
        f"{name}_mean_square",
        f"The mean squared error of {name} in place of gelu, over -10 <= x <= 10, is about 10^{exponent}.",
        "The integral over [0, 10] by Arb, divided by 10; the square is even.",
        "confirmed",
        mean=whole.real / 10,
    )


def _twice() -> Fact:
    lowest = value("gelu", ball(-1))
    (other,) = roots(jet_of(lambda x: gelu(x) - lowest), Fraction(-3, 4), Fraction(-1, 97))
    return _said(
        "twice",
        "GELU keeps the information of negative inputs.",
        "Every value between the minimum and 0 is taken twice, on either side of gelu.minimum: gelu(-1) = gelu(x).",
        **{"gelu(-1)": lowest, "x": other},
    )
