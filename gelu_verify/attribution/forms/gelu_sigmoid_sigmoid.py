"""The quick GELU: x times a library's sigmoid of 1.702*x."""

from ..expression import X, block

FORM = {
    "function": "gelu_sigmoid",
    "root": X * block("sigmoid", "1.702" * X),
    "spellings": ("xsigmoid1.702x", "xexpit1.702x", "xlogistic1.702x"),
    "targets": ("onnxruntime.gelu_sigmoid", "openvino.gelu_sigmoid"),
}
