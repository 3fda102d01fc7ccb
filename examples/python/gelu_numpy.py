"""The tanh form, on any NumPy array."""

import numpy as np


def gelu_tanh(x):
    u = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x**3)
    return x.dtype.type(0.5) * x * (1 + np.tanh(u))
