"""Implementations with a fault that the check `precision` must catch, each with a dtype."""

import numpy as np
from mutants import approximate_tanh, formula, sigmoid_form, tanh_form, through

MUTANTS = [
    (through("gelu", "bfloat16"), "float16"),
    *((through("gelu", "float16"), d) for d in ("float32", "float64")),
    *((through("gelu", "bfloat16"), d) for d in ("float32", "float64")),
    (through("gelu", "float32"), "float64"),
    (through("gelu_tanh", "float16", results=False), "float32"),
    (through("silu_grad", "float16", inputs=False), "float32"),
    (through("silu", "float32", inputs=False), "float64"),
    (formula("gelu_tanh", tanh_form(), np.float32), "float64"),
    (formula("gelu_sigmoid", sigmoid_form(), np.float16), "float32"),
    *((formula("gelu_tanh", approximate_tanh()), d) for d in ("float32", "float64")),
]
