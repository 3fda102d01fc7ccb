"""Implementations with a fault that the check `sign` must catch, each with a dtype."""

from mutants import at, faulty, where

MUTANTS = [
    (faulty("gelu", where(lambda x: (x < -4) & (x > -5), "1e-3")), "float16"),
    (faulty("gelu_tanh", where(lambda x: x < -5.0, "1e-30")), "float32"),
    (faulty("sigmoid", at(-3.0, "-1e-3")), "bfloat16"),
]
