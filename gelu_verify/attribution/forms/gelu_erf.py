"""PyTorch, TensorFlow, Keras, the ONNX function body: 1 + erf cancels in the negative tail."""

from ..expression import SQRT_HALF, X, block

FORM = {
    "function": "gelu",
    "root": "0.5" * X * (1 + block("erf", X * SQRT_HALF)),
    "spellings": ("0.5x1+erfx/sqrt2", "x0.51+erfx/sqrt2", "x/21+erfx/sqrt2", "x1+erfx/sqrt2/2"),
    "targets": ("onnxruntime.gelu", "onnxruntime.gelu-contrib", "openvino.gelu"),
}
