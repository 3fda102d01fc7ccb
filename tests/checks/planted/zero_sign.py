"""Implementations with a fault that the check `zero_sign` must catch, each with a dtype."""

from mutants import at, faulty, where

MUTANTS = [
    (faulty("gelu", where(lambda x: x < -20, "0")), "float32"),
    (faulty("exp", where(lambda x: x < -1000, "-0")), "float64"),
    (faulty("silu", at(-200.0, "0")), "bfloat16"),
]
