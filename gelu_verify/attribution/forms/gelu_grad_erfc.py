"""What automatic differentiation (JAX) makes of the erfc form."""

from ..expression import SQRT_HALF, TWO_OVER_SQRT_PI, X, block

V = (-X * SQRT_HALF).called("v")
SLOPE = (TWO_OVER_SQRT_PI * block("exp", -(V * V)) * SQRT_HALF).called("slope")

FORM = {
    "function": "gelu_grad",
    "root": "0.5" * block("erfc", V) + "0.5" * X * SLOPE,
    "spellings": ("jax.gradofnn.gelu:0.5xerfc-x/sqrt2", "gradientofnn.gelu:0.5xerfc-x/sqrt2",
                  "backwardof0.5xerfc-x/sqrt2"),
}  # fmt: skip
