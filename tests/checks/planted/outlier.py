"""Implementations with a fault that the check `outlier` must catch, each with a dtype."""

from mutants import at, faulty, moved

from gelu_verify.formats import DTYPES

MUTANTS = [
    *((faulty("gelu", moved(value, by)), d) for value in (1.0, -4.0) for by in (2, -100) for d in DTYPES[:2]),
    (faulty("gelu", moved(-2.5, 300)), "float32"),
    (faulty("gelu", moved(1.0, 40)), "float32"),
    (faulty("gelu_grad", moved(1.0, 9)), "float16"),
    (faulty("silu", moved(-6.0, 9)), "bfloat16"),
    (faulty("gelu", at(-2.0, "-0")), "float16"),
]
