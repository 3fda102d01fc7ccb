"""Implementations with a fault that the check `half_slope` must catch, each with a dtype."""

import numpy as np
from mutants import faulty, moved

from gelu_verify.formats import DTYPES, get_format


def identity_when_tiny(dtype, x, y):
    fmt = get_format(dtype)
    return np.where((x & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(fmt.parse("1e-4")), x, y)


MUTANTS = [
    *((faulty("gelu", identity_when_tiny), d) for d in DTYPES),
    *((faulty("gelu_grad", identity_when_tiny), d) for d in DTYPES),
    (faulty("gelu_tanh", moved(2.0**-10, 2)), "bfloat16"),
]
