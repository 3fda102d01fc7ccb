"""What automatic differentiation makes of the quick GELU, with sigmoid' = s*(1 - s)."""

from ..expression import X
from .gelu_sigmoid_exp import SIGMOID

FORM = {
    "function": "gelu_sigmoid_grad",
    "root": SIGMOID + X * (SIGMOID * (1 - SIGMOID) * "1.702"),
    "spellings": ("backwardofxsigmoid1.702x", "jax.gradofxnn.sigmoid1.702x", "gradientofxsigmoid1.702x"),
}
