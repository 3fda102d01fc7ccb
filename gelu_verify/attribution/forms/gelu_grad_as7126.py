"""oneDNN's gelu_erf backward."""

from ..expression import SQRT_HALF, TWO_OVER_SQRT_PI, X, block
from .gelu_as7126 import erf_as7126

V = (X * SQRT_HALF).called("v")

FORM = {
    "function": "gelu_grad",
    "root": "0.5" * (1 + block("erf", V) + V * TWO_OVER_SQRT_PI * block("exp", -(V * V))),
    "private": {"erf": erf_as7126},
    "private_text": "erf by Abramowitz and Stegun 7.1.26",
    "spellings": ("backwardoff.gelu",),
}
