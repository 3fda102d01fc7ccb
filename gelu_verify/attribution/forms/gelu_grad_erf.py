"""PyTorch's GeluBackward."""

from ..expression import INV_SQRT_2PI, SQRT_HALF, X, block, decimal

CDF = ("0.5" * (1 + block("erf", X * SQRT_HALF))).called("cdf")
PDF = (INV_SQRT_2PI * block("exp", X * X * decimal("-0.5"))).called("pdf")

FORM = {
    "function": "gelu_grad",
    "root": CDF + X * PDF,
    "spellings": ("backwardoff.gelu", "backwardof0.5x1+erfx/sqrt2"),
}
