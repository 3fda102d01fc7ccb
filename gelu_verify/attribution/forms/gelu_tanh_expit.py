"""tinygrad, SciPy: x times a library's sigmoid of 2*u."""

from ..expression import X, block, constant

SQRT_8_OVER_PI = constant("sqrt(8/pi)", lambda mp: mp.sqrt(8 / mp.pi), "1.59577", "1.59576912", "1.5957691216")
W = (SQRT_8_OVER_PI * (X + "0.044715" * (X * X * X))).called("w")

FORM = {
    "function": "gelu_tanh",
    "root": X * block("sigmoid", W),
    "spellings": ("xexpit2sqrt2/pix+0.044715x^3", "xsigmoid2sqrt2/pix+0.044715x^3"),
}
