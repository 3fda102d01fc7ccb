"""Implementations with a fault that the check `plus_infinity` must catch, each with a dtype."""

import numpy as np
from mutants import at, faulty

MUTANTS = [
    (faulty("gelu", at(np.inf, "nan")), "float16"),
    (faulty("gelu", at(np.inf, "1e4")), "float32"),
    (faulty("gelu_grad", at(np.inf, "nan")), "bfloat16"),
]
