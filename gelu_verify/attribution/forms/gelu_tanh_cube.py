"""The tanh form with pow(x, 3), which is rounded once."""

from ..expression import SQRT_2_OVER_PI, X, block, cube

U = (SQRT_2_OVER_PI * (X + "0.044715" * cube(X))).called("u")

FORM = {"function": "gelu_tanh", "root": "0.5" * X * (1 + block("tanh", U))}
