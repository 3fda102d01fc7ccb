"""Implementations with a fault that the check `range` must catch, each with a dtype."""

import numpy as np
from mutants import at, faulty, moved

from gelu_verify.formats import get_format
from gelu_verify.truth.values import reference_bits


def below_minimum(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(y == reference_bits("gelu", dtype, x).max(), y + fmt.uint.type(2), y)


MUTANTS = [
    (faulty("gelu", at(-1.0, "-0.171")), "float16"),
    (faulty("gelu", below_minimum), "bfloat16"),
    (faulty("tanh", at(2.0, "1.01")), "bfloat16"),
    (faulty("gelu", moved(8.0, 1)), "float16"),
    (faulty("gelu_grad", at(2.0, "1.13")), "float64"),
]
