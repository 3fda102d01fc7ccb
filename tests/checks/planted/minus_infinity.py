"""Implementations with a fault that the check `minus_infinity` must catch, each with a dtype."""

import numpy as np
from mutants import at, faulty

MUTANTS = [
    (faulty("gelu", at(-np.inf, "nan")), "float16"),
    (faulty("silu", at(-np.inf, "0")), "float64"),
    (faulty("gelu_tanh_grad", at(-np.inf, "nan")), "float32"),
    (faulty("log", at(-np.inf, "-inf")), "float16"),
]
