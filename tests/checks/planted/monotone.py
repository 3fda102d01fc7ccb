"""Implementations with a fault that the check `monotone` must catch, each with a dtype."""

from mutants import faulty, moved

MUTANTS = [
    (faulty("gelu", moved(2.0, -3)), "float16"),
    (faulty("gelu", moved(-2.0, 12)), "bfloat16"),
    (faulty("gelu", moved(-3.0, -400)), "float32"),
    (faulty("gelu_grad", moved(1.0, 20)), "float64"),
    (faulty("erfc", moved(1.0, 3)), "float16"),
]
