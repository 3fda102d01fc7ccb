"""Implementations with a fault that the check `growth` must catch, each with a dtype."""

import numpy as np
from mutants import faulty


def leaking(nbytes):
    """Every call keeps so many bytes."""
    kept = []
    return lambda dtype, x, y: kept.append(np.ones(nbytes, np.uint8)) or y


MUTANTS = [(faulty("relu", leaking(1 << 20)), "float32")]
