"""The quick GELU as one quotient, which rounds once less than x times sigmoid."""

from ..expression import X, block

FORM = {"function": "gelu_sigmoid", "root": X / (1 + block("exp", -("1.702" * X)))}
