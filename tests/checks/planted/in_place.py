"""Implementations with a fault that the check `in_place` must catch, each with a dtype."""

import numpy as np

from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.values import reference_bits


def right(x):
    return reference_bits("gelu", "float32", x.view(np.uint32)).view(np.float32)


def overlapping(width):
    """A loop over blocks, of which the last one ends with the array, and so begins in the one before."""

    def f(x, out):
        for start in range(0, len(x), width):
            start = max(min(start, len(x) - width), 0)
            out[start : start + width] = right(x[start : start + width])

    return f


def two_passes(x, out):
    out[:] = right(x) / np.where(x == 0, np.float32(1), x)
    np.multiply(out, x, out=out)
    out[:] = np.where(x == out, x, right(x))


MUTANTS = [(callable_target(f, "gelu", "float32", call="f(x, out=y)"), "float32") for f in (overlapping(8), two_passes)]
