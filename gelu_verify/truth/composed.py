"""What a function with a second input is where it is composed in the dtype: two correctly rounded steps."""

from __future__ import annotations

import numpy as np

from ..fenv import in_default_environment
from ..formats import get_format, numpy_dtype
from .second_input import of_two_inputs
from .values import reference_bits


@in_default_environment
def composed_bits(function: str, dtype: str, second_bits: int, x_bits: np.ndarray) -> np.ndarray:
    """f(x) rounded, times g and rounded; or x + b rounded, and f of it rounded: bits, of the shape of `x_bits`.

    In 16 bits by way of float32, which has more than twice as many bits: a sum or product is rounded there, and again,
    as it would be at once.
    """
    second, kind = of_two_inputs(function), numpy_dtype(dtype)
    wide = np.float32 if get_format(dtype).width == 16 else kind
    value = np.array([second_bits], get_format(dtype).uint).view(kind).astype(wide)
    with np.errstate(all="ignore"):
        if second.is_factor:
            inner = reference_bits(second.inner.name, dtype, x_bits).view(kind)
            return np.asarray((inner.astype(wide) * value).astype(kind)).view(x_bits.dtype)
        total = np.asarray((x_bits.view(kind).astype(wide) + value).astype(kind)).view(x_bits.dtype)
        return np.asarray(reference_bits(second.inner.name, dtype, total))
