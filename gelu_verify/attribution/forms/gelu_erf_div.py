"""The erf form with x/sqrt(2), which rounds otherwise than x*sqrt(1/2): ONNX exporters, NumPy."""

from ..expression import X, block, constant

SQRT_2 = constant("sqrt(2)", lambda mp: mp.sqrt(2), "1.41421", "1.4142135", "1.41421356", "1.4142135623731")

FORM = {"function": "gelu", "root": "0.5" * X * (1 + block("erf", X / SQRT_2))}
