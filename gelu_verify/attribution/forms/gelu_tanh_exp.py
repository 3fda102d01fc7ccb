"""The tanh form with tanh(u) = 1 - 2/(1 + exp(2*u)), as kernels without a tanh have it."""

from ..expression import Node, X, block, decimal
from .gelu_tanh_tanh import U


def tanh_by_exp(u: Node) -> Node:
    return 1 - decimal("2") / (1 + block("exp", decimal("2") * u))


FORM = {
    "function": "gelu_tanh",
    "root": "0.5" * X * (1 + block("tanh", U)),
    "private": {"tanh": tanh_by_exp},
    "private_text": "tanh as 1 - 2/(1 + exp(2*u))",
}
