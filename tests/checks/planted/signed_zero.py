"""Implementations with a fault that the check `signed_zero` must catch, each with a dtype."""

from mutants import at, faulty

MUTANTS = [
    (faulty("gelu", at(0.0, "0")), "float32"),
    (faulty("gelu", at(0.0, "-0")), "bfloat16"),
    (faulty("gelu_grad", at(0.0, "0")), "float64"),
]
