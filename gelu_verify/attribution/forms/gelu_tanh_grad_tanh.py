"""PyTorch's GeluBackward with approximate="tanh"."""

from ..expression import SQRT_2_OVER_PI, X, block, constant
from .gelu_tanh_tanh import U

THREE_CUBE = constant("0.134145", lambda mp: mp.mpf(134145) / 1000000)
SLOPE = (SQRT_2_OVER_PI * (1 + THREE_CUBE * (X * X))).called("u'")
T = block("tanh", U).called("t")

FORM = {
    "function": "gelu_tanh_grad",
    "root": "0.5" * (1 + T) + "0.5" * X * (1 - T * T) * SLOPE,
    "spellings": ('backwardoff.geluapproximate="tanh"', "backwardof0.5x1+tanhsqrt2/pix+0.044715x^3"),
}
