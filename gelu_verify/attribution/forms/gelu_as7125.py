"""gelu_erf with the shortest erf of the 1964 handbook."""

from ..expression import SQRT_HALF, Node, X, absolute, block, copysign


def erf_as7125(v: Node) -> Node:
    """Abramowitz and Stegun 7.1.25, |error| <= 2.5e-5."""
    t = (1 / (1 + "0.47047" * absolute(v))).called("t")
    series = (("0.7478556" * t + "-0.0958798") * t + "0.3480242") * t
    return copysign(1 - series * block("exp", -(v * v)), v)


FORM = {
    "function": "gelu",
    "root": "0.5" * X * (1 + block("erf", X * SQRT_HALF)),
    "private": {"erf": erf_as7125},
    "private_text": "erf by Abramowitz and Stegun 7.1.25",
}
