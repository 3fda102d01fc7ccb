"""Implementations with a fault that the check `tail_zero` must catch, each with a dtype."""

from mutants import faulty, where

MUTANTS = [
    (faulty("gelu", where(lambda x: x < -3, "-0")), "float16"),
    (faulty("gelu", where(lambda x: x < -5.54, "-0")), "float32"),
    (faulty("gelu", where(lambda x: x < -8.3, "0")), "float64"),
    (faulty("silu", where(lambda x: x < -89, "-0")), "bfloat16"),
    (faulty("gelu_grad", where(lambda x: x < -5, "0")), "float32"),
]
