"""gelu_erf with the longer erf of the 1964 handbook that needs no exp."""

from ..expression import SQRT_HALF, Node, X, block
from .gelu_as7127 import one_less_power

COEFFICIENTS = ("0.0000430638", "0.0002765672", "0.0001520143", "0.0092705272", "0.0422820123", "0.0705230784")


def erf_as7128(v: Node) -> Node:
    """Abramowitz and Stegun 7.1.28, |error| <= 3e-7."""
    return one_less_power(v, COEFFICIENTS, 4)


FORM = {
    "function": "gelu",
    "root": "0.5" * X * (1 + block("erf", X * SQRT_HALF)),
    "private": {"erf": erf_as7128},
    "private_text": "erf by Abramowitz and Stegun 7.1.28",
}
