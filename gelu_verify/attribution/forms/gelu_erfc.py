"""JAX: no cancellation; the rounded argument of erfc is what costs, in proportion to x^2."""

from ..expression import SQRT_HALF, X, block

FORM = {
    "function": "gelu",
    "root": "0.5" * X * block("erfc", -X * SQRT_HALF),
    "spellings": ("0.5xerfc-x/sqrt2", "x0.5erfc-x/sqrt2", "x/2erfc-x/sqrt2"),
}
