"""Implementations with a fault that the check `saturation` must catch, each with a dtype."""

import numpy as np
from mutants import faulty, where

from gelu_verify.formats import DTYPES

MUTANTS = [
    (faulty("gelu", where(lambda x: (x < -20) & np.isfinite(x), "2.2")), "float16"),
    (faulty("gelu", where(lambda x: (x < -50) & np.isfinite(x), "-1e-3")), "float64"),
    *((faulty("gelu", where(lambda x: (x > 9) & (x < 100), "9")), d) for d in DTYPES),
    (faulty("gelu_tanh_grad", where(lambda x: (x > 140) & np.isfinite(x), "1.044")), "float16"),
    (faulty("silu_grad", where(lambda x: (x > 1e18) & np.isfinite(x), "0")), "float32"),
    (faulty("tanh", where(lambda x: (x > 9) & np.isfinite(x), "0.99")), "bfloat16"),
]
