"""The erfc form with x/sqrt(2)."""

from ..expression import X, block
from .gelu_erf_div import SQRT_2

FORM = {"function": "gelu", "root": "0.5" * X * block("erfc", -X / SQRT_2)}
