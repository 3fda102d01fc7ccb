"""Implementations with a fault that the check `plateau` must catch, each with a dtype."""

from mutants import faulty, through, where

MUTANTS = [
    (through("gelu", "float16"), "float32"),
    (through("gelu_tanh", "bfloat16", results=False), "float16"),
    (faulty("gelu", where(lambda x: (x > -2.1) & (x < -2.0), "-0.0454")), "float16"),
    (faulty("sigmoid", where(lambda x: (x > -9) & (x < -8), "2e-4")), "bfloat16"),
]
