"""Subnormal numbers that become zero: by convention on some devices, and so told apart from other errors."""

from __future__ import annotations

import numpy as np

from ..formats import Format, is_zero


def is_subnormal(fmt: Format, bits: np.ndarray) -> np.ndarray:
    magnitude = bits & fmt.uint.type(fmt.sign_mask - 1)
    return np.asarray((magnitude > 0) & (magnitude < fmt.uint.type(1 << (fmt.precision - 1))))


def flushed(fmt: Format, x: np.ndarray, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where a zero was given for a subnormal input, or for a subnormal result.

    Also for one that rounds to the least normal number: devices flush what is subnormal before it is rounded.
    """
    least_normal = (want & fmt.uint.type(fmt.sign_mask - 1)) == fmt.uint.type(1 << (fmt.precision - 1))
    small = is_subnormal(fmt, want) | least_normal | is_subnormal(fmt, x)
    return np.asarray(is_zero(fmt, got) & ~is_zero(fmt, want) & small)
