"""Ways to be called that are not f(x): the line beside each is what `--call` or `--shape` says."""

import math

import numpy as np


def gelu_scalar(x):
    """One number at a time: found by itself, or --array scalar."""
    return 0.5 * x * math.erfc(-x / math.sqrt(2))


def gelu_into(x, out):
    """--call "f(x, out=y)"."""
    inner = x.dtype.type(math.sqrt(2 / math.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    np.multiply(x.dtype.type(0.5) * x, 1 + np.tanh(inner), out=out)


def gelu_in_place(x):
    """--call "f(x); x"."""
    gelu_into(x.copy(), out=x)


def gelu_rows(x):
    """--shape "(n, 16)"."""
    assert x.ndim == 2
    assert x.shape[1] == 16
    y = np.empty_like(x)
    gelu_into(x, out=y)
    return y


def gelu_backward(dy, x):
    """--call "f(dy, x)"."""
    density = np.exp(x * x * x.dtype.type(-0.5)) * x.dtype.type(1 / math.sqrt(2 * math.pi))
    below = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in x], x.dtype)
    return dy * (below + x * density)


class Gelu:
    """A class is made an instance (--kwarg gives its arguments), and the instance is called."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def __call__(self, x):
        y = np.empty_like(x)
        gelu_into(x, out=y)
        return x.dtype.type(self.scale) * y
