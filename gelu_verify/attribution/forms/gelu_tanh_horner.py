"""ONNX Runtime's MLAS, oneDNN, Transformer Engine: the argument of tanh as x times a polynomial of x^2."""

from ..expression import SQRT_2_OVER_PI, X, block, constant

CUBE = constant("sqrt(2/pi)*0.044715", lambda mp: mp.sqrt(2 / mp.pi) * 44715 / 1000000, "0.0356774", "0.03567741")
U = (X * (CUBE * (X * X) + SQRT_2_OVER_PI)).called("u")

FORM = {
    "function": "gelu_tanh",
    "root": "0.5" * X * (1 + block("tanh", U)),
    "spellings": ("0.5x1+tanhx0.0356774", "0.5x1+tanhsqrt2/pix1+0.044715x^2"),
    "targets": ("onnxruntime.gelu_tanh", "onnxruntime.gelu_tanh-fastgelu", "openvino.gelu_tanh"),
}
