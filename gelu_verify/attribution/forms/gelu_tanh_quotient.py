"""The tanh form with tanh(u) = (exp(2*u) - 1)/(exp(2*u) + 1): NaN where exp overflows."""

from ..expression import Node, X, block, decimal
from .gelu_tanh_tanh import U


def tanh_by_quotient(u: Node) -> Node:
    e = block("exp", decimal("2") * u).called("e")
    return (e - 1) / (e + 1)


FORM = {
    "function": "gelu_tanh",
    "root": "0.5" * X * (1 + block("tanh", U)),
    "private": {"tanh": tanh_by_quotient},
    "private_text": "tanh as (exp(2*u) - 1)/(exp(2*u) + 1)",
}
