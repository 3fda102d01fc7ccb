"""The tanh form with sqrt(2/pi)*x*(1 + 0.044715*x*x): ggml, llama.cpp, whisper.cpp."""

from ..expression import SQRT_2_OVER_PI, X, block

U = (SQRT_2_OVER_PI * X * (1 + "0.044715" * X * X)).called("u")

FORM = {"function": "gelu_tanh", "root": "0.5" * X * (1 + block("tanh", U))}
