"""Implementations with a fault that the check `finite` must catch, each with a dtype."""

import numpy as np
from mutants import at, faulty, where

MUTANTS = [
    (faulty("gelu", where(lambda x: (x > 33000) & np.isfinite(x), "inf")), "float16"),
    (faulty("gelu_grad", at(41.0, "nan")), "float32"),
    (faulty("silu", where(lambda x: (x < -88) & np.isfinite(x), "nan")), "float64"),
    (faulty("log", at(-2.0, "1")), "float16"),
    (faulty("log", at(0.0, "-100")), "float64"),
]
