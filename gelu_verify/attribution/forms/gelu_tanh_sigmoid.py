"""oneDNN on GPUs, ONNX Runtime's CUDA FastGelu: 1 + tanh(u) = 2*sigmoid(2*u), which does not cancel."""

from ..expression import X, block, decimal
from .gelu_tanh_tanh import U

FORM = {
    "function": "gelu_tanh",
    "root": X / (1 + block("exp", decimal("-2") * U)),
    "spellings": ("x/1+exp-2sqrt2/pix+0.044715x^3", "x/1+exp-2u"),
}
