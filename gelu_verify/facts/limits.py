"""Limits and asymptotics, and what the paper claims of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import flint

from .balls import Ball, ball, roots, text
from .balls import derivative as derivative_of
from .base import Fact
from .curves import JETS, upper_tail, value

FAR = (10, 100, 1000)


def facts() -> Iterator[Fact]:
    yield _narrow("gelu", "sigma", "x Phi(x/s)", " s", "s gelu(x/s)", "s -> 0")
    yield _narrow("silu", "beta", "x sigmoid(b x)", "/b", "silu(b x)/b", "b -> infinity")
    yield Fact(
        name="gelu.sigma_wide",
        topic="limit",
        statement="For s -> infinity, x Phi(x/s) tends to x/2: the distance is below k x^2/s.",
        values={"k": text(1 / (2 * flint.arb.pi()).sqrt())},
        proof="|Phi(t) - 1/2| <= |t| phi(0) = |t|/sqrt(2 pi).",
    )
    yield Fact(
        name="gelu.ends",
        topic="limit",
        statement="relu(x) - gelu(x) = |x| Q(|x|), which falls to 0 at both ends. For x -> inf gelu(x)/relu(x) "
        "tends to 1 as well; "
        "for x < 0 relu is 0, and no relative distance exists.",
        values={f"relu - gelu at {x} and -{x}": text(x * upper_tail(ball(x))) for x in FAR},
        proof="x - x Phi(x) = x Q(x), and gelu(-x) = -x Q(x).",
    )
    yield _cauchy_left()
    yield _cauchy_right()
    yield Fact(
        name="cauchy_unit.convex",
        topic="shape",
        statement="cauchy_unit rises and is convex on the whole line, from its greatest lower bound -1/pi, which "
        "it does not take.",
        values={"-1/pi": text(-1 / flint.arb.pi())},
        proof="f'' = 2/(pi (1 + x^2)^2) > 0, so that f' rises from its limit 0 at -inf; |x| atan(1/|x|) < 1.",
    )


def _narrow(name: str, parameter: str, formula: str, scale: str, same: str, limit: str) -> Fact:
    minimum = roots(derivative_of(JETS[name]), Fraction(-12) - Fraction(1, 97), Fraction(12))[0]
    return Fact(
        name=f"{name}.{parameter}",
        topic="limit",
        statement=f"For {limit}, {formula} tends to relu(x), uniformly in x: "
        f"the largest distance is c{scale}, at -x0{scale} and x0{scale}.",
        values={"c": text(-value(name, minimum)), "x0": text(-minimum)},
        proof=f"{formula} = {same} and relu has no scale: the bounds of {name}, scaled.",
    )


def _shortfall(x: Ball) -> Ball:
    """1/pi - x atan(1/x)/pi."""
    return (1 - x * (1 / x).atan()) / flint.arb.pi()


def _cauchy_left() -> Fact:
    values = {f"at -{x}": text(_shortfall(ball(x)) - (-ball(x)).exp() / flint.arb.pi()) for x in FAR}
    return Fact(
        name="cauchy_unit.left",
        topic="limit",
        statement="For x -> -inf cauchy_unit(x) and elu(x) with alpha = 1/pi both tend to -1/pi: cauchy_unit(x) "
        "= -1/pi + 1/(3 pi x^2) - "
        "q/(5 pi x^4), 0 < q < 1, for x < -1, and elu(x) = -1/pi + e^x/pi. cauchy_unit - elu is listed.",
        values={"1/(3 pi)": text(1 / (3 * flint.arb.pi())), **values},
        proof="cauchy_unit(-x) = -x atan(1/x)/pi, and the series of atan alternates (Leibniz).",
    )


def _cauchy_right() -> Fact:
    return Fact(
        name="cauchy_unit.right",
        topic="limit",
        statement="For x -> inf cauchy_unit(x) = x - 1/pi + 1/(3 pi x^2) - q/(5 pi x^4), 0 < q < 1: elu (and "
        "relu), shifted down by "
        "1/pi, are its asymptote. cauchy_unit(x) - (x - 1/pi) is listed.",
        values={f"at {x}": text(_shortfall(ball(x))) for x in FAR},
        proof="cauchy_unit(x) - cauchy_unit(-x) = x, and the expansion for x -> -inf.",
    )


def claims() -> Iterator[Fact]:
    """What Hendrycks and Gimpel state of the functions, by the facts above."""
    for name, verdict, statement, proof in _CLAIMS:
        yield Fact(name=f"claim.{name}", topic="claim", statement=statement, values={}, proof=proof, verdict=verdict)


_CLAIMS = (
    ("sigma_to_zero", "confirmed", "As sigma -> 0 with mu = 0, the GELU becomes a ReLU.", "gelu.sigma: uniformly "
    "in x, within c sigma."),
    ("relu_asymptotically", "confirmed", "ReLU and GELU are equal asymptotically.",
     "gelu.ends: their difference tends to 0 at both ends. Their ratio tends to 1 at +inf only: relu is 0 for x < 0."),
    ("cauchy_negative", "confirmed", "The ELU with alpha = 1/pi is asymptotically equal to x P(C <= x) for "
    "negative values.",
     "cauchy_unit.left: both tend to -1/pi. One does with 1/(3 pi x^2), the other with e^x/pi: the limit is "
     "shared, the rate is not."),
    ("cauchy_positive", "confirmed", "For positive values x P(C <= x) is the ELU with its line shifted down by 1/pi.",
     "cauchy_unit.right: asymptotically, with the error 1/(3 pi x^2). At 0 the two differ by the whole 1/pi."),
    ("not_convex_not_monotonic", "confirmed", "The GELU is non-convex and non-monotonic.", "gelu.minimum and "
    "gelu.inflections."),
    ("curvature", "corrected", "The GELU exhibits curvature at all points.",
     "gelu.inflections: gelu'' = phi(x) (2 - x^2) is 0 at -sqrt(2) and sqrt(2), and nowhere else."),
    ("elu_convex", "corrected", "ReLUs and ELUs are convex and monotonic.",
     "True of relu, and of elu with 0 < alpha <= 1. For alpha > 1 the slope of elu falls from alpha to 1 at 0: "
     "it is not convex."),
    ("tanh_form", "confirmed", "The GELU is approximated by 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).",
     "gelu_tanh.distance: for every x within d. gelu_tanh.tail: for x -> -inf not relatively, the ratio tends to 0."),
    ("sigmoid_form", "confirmed", "The GELU is approximated by x sigmoid(1.702 x).",
     "gelu_sigmoid.distance: for every x within d. gelu_sigmoid.tail: for x -> -inf not relatively, the ratio "
     "grows without bound."),
    ("sigmoid_cdf", "confirmed", "The maximum difference between sigmoid(x) and Phi(x) is approximately 0.1.",
     "silu.cumulative: to one digit. Scaled as sigmoid(1.702 x), it is gelu_sigmoid.cumulative, a twelfth of that."),
    ("expectation", "confirmed", "The expected transformation of the stochastic regularizer is x Phi(x).",
     "m x with P(m = 1) = Phi(x) has the mean x Phi(x), exactly."),
    ("more_dropped", "confirmed", "Inputs have a higher probability of being dropped as x decreases.",
     "The probability is 1 - Phi(x), whose derivative -phi(x) is negative."),
)  # fmt: skip
