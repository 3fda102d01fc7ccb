"""JAX, TensorFlow, ONNX Runtime: x times a library's sigmoid."""

from ..expression import X, block

FORM = {
    "function": "silu",
    "root": X * block("sigmoid", X),
    "spellings": ("xsigmoidx", "xlogisticx", "xexpitx"),
    "targets": ("onnxruntime.silu", "onnxruntime.silu-quickgelu", "openvino.silu"),
}
