"""What a function with a second input is where it is composed in the dtype: two correctly rounded steps."""

from __future__ import annotations

import numpy as np

from ..fenv import in_default_environment
from ..formats import get_format, numpy_dtype
from .second_input import second_of
from .values import reference_bits


@in_default_environment
def composed_bits(function: str, dtype: str, second_bits: int, x_bits: np.ndarray) -> np.ndarray:
    """f(x) rounded, times g and rounded; or x + b rounded, and f of it rounded: bits, of the shape of `x_bits`."""
    second, fmt = second_of(function), get_format(dtype)
    value = np.array([second_bits], fmt.uint).view(numpy_dtype(dtype))
    with np.errstate(all="ignore"):
        if second.is_factor:
            inner = reference_bits(second.inner.name, dtype, x_bits)
            return np.asarray(inner.view(numpy_dtype(dtype)) * value).view(fmt.uint)
        total = np.asarray(x_bits.view(numpy_dtype(dtype)) + value).view(fmt.uint)
        return reference_bits(second.inner.name, dtype, total)
