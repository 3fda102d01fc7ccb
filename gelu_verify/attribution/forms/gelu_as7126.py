"""oneDNN below AVX-512, tinygrad, Metal backends: gelu_erf with the erf of a 1964 handbook."""

from ..expression import SQRT_HALF, Node, X, absolute, block, copysign


def erf_as7126(v: Node) -> Node:
    """Abramowitz and Stegun 7.1.26, |error| <= 1.5e-7."""
    t = (1 / (1 + "0.3275911" * absolute(v))).called("t")
    series = (((("1.061405429" * t + "-1.453152027") * t + "1.421413741") * t + "-0.284496736") * t + "0.254829592") * t
    return copysign(1 - series * block("exp", -(v * v)), v)


FORM = {
    "function": "gelu",
    "root": "0.5" * X * (1 + block("erf", X * SQRT_HALF)),
    "private": {"erf": erf_as7126},
    "private_text": "erf by Abramowitz and Stegun 7.1.26",
    "spellings": ("0.5x1+erfx/sqrt2,fused", "gelu-7,erf"),
    "targets": ("openvino.gelu", "torch.gelu"),
}
