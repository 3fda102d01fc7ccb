"""gelu_erf with the erf of the 1964 handbook that needs no exp."""

from ..expression import SQRT_HALF, Node, X, absolute, block, copysign

COEFFICIENTS = ("0.078108", "0.000972", "0.230389", "0.278393")


def erf_as7127(v: Node) -> Node:
    """Abramowitz and Stegun 7.1.27, |error| <= 5e-4."""
    return one_less_power(v, COEFFICIENTS, 2)


def one_less_power(v: Node, coefficients: tuple[str, ...], squarings: int) -> Node:
    """sign(v) (1 - 1/(1 + a1 |v| + a2 v^2 ...)^(2^squarings)), the highest coefficient first."""
    a = absolute(v)
    series: Node = coefficients[0] * a
    for each in coefficients[1:]:
        series = (series + each) * a
    power = 1 + series
    for _ in range(squarings):
        power = power * power
    return copysign(1 - 1 / power, v)


FORM = {
    "function": "gelu",
    "root": "0.5" * X * (1 + block("erf", X * SQRT_HALF)),
    "private": {"erf": erf_as7127},
    "private_text": "erf by Abramowitz and Stegun 7.1.27",
}
