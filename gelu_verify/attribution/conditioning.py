"""The conditioning: kappa(x) = |x f'(x) / f(x)|, and what half an ULP of error in x, or in a rounded argument, becomes.

x itself is exact: code that carries the rounding error of its argument along avoids it.
"""

from __future__ import annotations

import numpy as np

from ..formats import get_format, to_float64
from ..truth.values import judge, reference_bits
from .sensitivity import unit_of

STEP = 2.0**-17  # of a central difference, relative: off by 1e-4 of f' where it bends most (x = -38)


def slope(function: str, x: np.ndarray) -> np.ndarray:
    """f'(x) to three digits, by differences of correctly rounded float64 values."""
    step = np.abs(x) * STEP
    above, below = x + step, x - step
    found: np.ndarray = (_value(function, above) - _value(function, below)) / (above - below)
    return found


def kappa(function: str, x: np.ndarray) -> np.ndarray:
    """|x f'(x) / f(x)| at float64 inputs; NaN where f(x) is zero."""
    with np.errstate(all="ignore"):
        found = np.abs(x * slope(function, x) / _value(function, x))
        return np.where(np.isfinite(found), found, np.nan)


def from_input(function: str, dtype: str, x_bits: np.ndarray) -> np.ndarray:
    """ULP of the result that an error of half a ULP of x makes: what the rounding of x alone costs."""
    fmt = get_format(dtype)
    want = judge(function, dtype, x_bits, x_bits).want_bits
    unit = unit_of(fmt, want, judge(function, dtype, x_bits, want).error)
    spacing = unit_of(fmt, x_bits, np.zeros(x_bits.shape))
    with np.errstate(all="ignore"):
        found = np.abs(slope(function, to_float64(fmt, x_bits))) * (spacing / 2) / unit
        return np.where(np.isfinite(found), found, np.nan)


def _value(function: str, x: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(x).view(np.uint64)
    return np.asarray(reference_bits(function, "float64", bits)).view(np.float64)
