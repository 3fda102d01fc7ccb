"""PyTorch's silu_backward."""

from ..expression import X, block

S = (1 / (1 + block("exp", -X))).called("s")

FORM = {
    "function": "silu_grad",
    "root": S * (1 + X * (1 - S)),
    "spellings": ("backwardoff.silu", "backwardofxsigmoidx", "jax.gradofnn.silu", "gradientofnn.silu"),
}
