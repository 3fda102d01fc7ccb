"""Implementations with a fault that the check `rounding` must catch, each with a dtype."""

import math

import numpy as np
from mutants import cut_off, rounded, sigmoid_form, tanh_form, tanh_form_derivative

from gelu_verify.formats import DTYPES


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float32])(x)


CUT_OFF = [
    ("gelu", lambda x: x * np.float32(0.5) * (1 + _erf(x * np.float32(0.5**0.5)))),
    ("gelu_tanh", tanh_form()),
    ("gelu_tanh", lambda x: tanh_form()(x) * np.float32(1 + 2.0**-13)),  # by a coarse tanh
    ("gelu_sigmoid", sigmoid_form()),
    ("silu", sigmoid_form("1")),
    ("gelu_tanh_grad", tanh_form_derivative()),
]


MUTANTS = [
    *((rounded(f, way), d) for f in ("gelu", "silu_grad") for way in ("zero", "away", "up", "down") for d in DTYPES),
    *((cut_off(function, float32), "bfloat16") for function, float32 in CUT_OFF),
]
