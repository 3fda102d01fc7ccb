"""PyTorch, ggml: x/(1 + exp(-x))."""

from ..expression import X, block

FORM = {
    "function": "silu",
    "root": X / (1 + block("exp", -X)),
    "spellings": ("x/1+exp-x",),
}
