"""Implementations with a fault that the check `subnormals` must catch, each with a dtype."""

import numpy as np
from judging import subnormals_flushed
from mutants import faulty

from gelu_verify.formats import DTYPES, get_format


def subnormal_inputs_flushed(dtype, x, y):
    fmt = get_format(dtype)
    small = (x & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(1 << (fmt.precision - 1))
    return np.where(small, x & fmt.uint.type(fmt.sign_mask), y)


def subnormal_inputs_as_zero(dtype, x, y):
    """log: the infinity of zero."""
    fmt = get_format(dtype)
    small = (x & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(1 << (fmt.precision - 1))
    return np.where(small, fmt.uint.type(fmt.infinity | fmt.sign_mask), y)


MUTANTS = [
    *((faulty("silu", subnormals_flushed), d) for d in DTYPES),
    *((faulty("gelu", subnormal_inputs_flushed), d) for d in DTYPES),
    *((faulty("normcdf", subnormals_flushed), d) for d in DTYPES),
    *((faulty("log", subnormal_inputs_as_zero), d) for d in ("float16", "float64")),
]
