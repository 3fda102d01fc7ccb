"""PyTorch, JAX, Hugging Face's gelu_new: 1 + tanh cancels in the negative tail."""

from ..expression import SQRT_2_OVER_PI, X, block

U = (SQRT_2_OVER_PI * (X + "0.044715" * (X * X * X))).called("u")

FORM = {
    "function": "gelu_tanh",
    "root": "0.5" * X * (1 + block("tanh", U)),
    "spellings": ("0.5x1+tanhsqrt2/pix+0.044715x^3",),
    "targets": ("openvino.gelu_tanh",),
}
