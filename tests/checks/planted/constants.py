"""Implementations with a fault that the check `constants` must catch, each with a dtype."""

import numpy as np
from mutants import erfc_form, formula, sigmoid_form, tanh_form, tanh_form_derivative

from gelu_verify.formats import DTYPES

MUTANTS = [
    *((formula("gelu_tanh", tanh_form(a="0.044175")), d) for d in DTYPES),
    *((formula("gelu_tanh", tanh_form(a="0.04471499")), d) for d in ("float32", "float64")),
    *((formula("gelu_tanh", tanh_form(b="0.797885")), d) for d in ("float32", "float64")),
    *((formula("gelu_tanh", tanh_form(b="0.7978844")), d) for d in ("float32", "float64")),
    *((formula("gelu_tanh", tanh_form("0.797885", 0.0356774 / 0.797885)), d) for d in ("float32", "float64")),
    *((formula("gelu_sigmoid", sigmoid_form("1.7020005")), d) for d in ("float32", "float64")),
    (formula("gelu_sigmoid", sigmoid_form("1.7019995"), np.float32), "float32"),
    (formula("gelu_sigmoid", sigmoid_form("1.7")), "float16"),
    *((formula("gelu", erfc_form(0.7071067)), d) for d in ("float32", "float64")),
    (formula("gelu_tanh_grad", tanh_form_derivative(b="0.797885")), "float32"),
]
