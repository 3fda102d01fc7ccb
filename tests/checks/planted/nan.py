"""Implementations with a fault that the check `nan` must catch, each with a dtype."""

import numpy as np
from mutants import faulty

from gelu_verify.checks.nan import is_quiet
from gelu_verify.formats import DTYPES, get_format, is_nan, is_negative


def positive_nan_lost(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x) & ~is_negative(fmt, x), fmt.uint.type(0), y)


def signalling_nan_lost(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x) & ~is_quiet(fmt, x), fmt.uint.type(0), y)


def quiet_nan_signals(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(is_nan(fmt, x), (x & ~fmt.uint.type(1 << (fmt.precision - 2))) | fmt.uint.type(1), y)


def nan_lost_at(bits, given=0):
    """One NaN of all gives a number."""
    return lambda dtype, x, y: np.where(x == x.dtype.type(bits), x.dtype.type(given), y)


MUTANTS = [
    *((faulty("gelu", positive_nan_lost), d) for d in DTYPES),
    *((faulty("gelu", signalling_nan_lost), d) for d in DTYPES),
    *((faulty("gelu_grad", quiet_nan_signals), d) for d in DTYPES),
    *((faulty("gelu", nan_lost_at(0x7FFE)), d) for d in ("float16", "bfloat16")),
    *((faulty("gelu", nan_lost_at(0xFFC00040)), d) for d in ("float32",)),
]
