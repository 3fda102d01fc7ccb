"""The derivative of x*sigmoid(2*u), with sigmoid' = s*(1 - s)."""

from ..expression import X, block, decimal
from .gelu_tanh_grad_tanh import SLOPE
from .gelu_tanh_tanh import U

S = (1 / (1 + block("exp", decimal("-2") * U))).called("s")

FORM = {
    "function": "gelu_tanh_grad",
    "root": S + X * S * (1 - S) * (decimal("2") * SLOPE),
}
