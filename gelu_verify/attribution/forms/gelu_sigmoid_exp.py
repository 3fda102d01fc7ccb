"""The quick GELU with sigmoid written out: ggml's gelu_quick, Hugging Face in C++ ports."""

from ..expression import X, block

SIGMOID = (1 / (1 + block("exp", -("1.702" * X)))).called("s")

FORM = {
    "function": "gelu_sigmoid",
    "root": X * SIGMOID,
    "spellings": ("x1/1+exp-1.702x", "x/1+exp-1.702x"),
}
