"""Implementations with a fault that the check `variant` must catch, each with a dtype."""

from mutants import correct

from gelu_verify.formats import DTYPES

MUTANTS = [
    *((correct("gelu", "gelu_tanh"), d) for d in DTYPES),
    *((correct("gelu_tanh", "gelu"), d) for d in DTYPES),
    *((correct("gelu_sigmoid", "silu"), d) for d in DTYPES),
    (correct("gelu", "relu"), "float32"),
    (correct("gelu", "exp"), "float32"),
]
