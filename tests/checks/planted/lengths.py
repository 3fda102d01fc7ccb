"""Implementations with a fault that the check `lengths` must catch, each with a dtype."""

import numpy as np
from mutants import faulty


def at_length(length, floats):
    """Calls of that length are off."""
    return lambda dtype, x, y: np.where((len(x) == length) & (y > 9), y + y.dtype.type(floats), y)


MUTANTS = [(faulty("relu", at_length(1000, 3)), "float16"), (faulty("relu", at_length(1100, 3)), "float64")]
