"""Runs of consecutive numbers where the function is not trivial: called and judged once, for several checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import distinct
from ..formats import Format, from_ordinals, get_format, is_finite, numpy_dtype, ordinals, to_float64
from ..truth.values import zero_threshold

RUN = 32  # consecutive numbers
RIGHT = 8.0  # beyond it every function here is x, 1 or overflow


@cache
def dense_bits(function: str, dtype: str) -> np.ndarray:
    """Runs from where the tail ends up to RIGHT, evenly by value, and more of them about zero; by ordinal."""
    fmt = get_format(dtype)
    zero = zero_threshold(function, dtype)
    reach = max(-16.0, -16.0 if zero is None else float(fmt.fraction(zero)))
    starts = np.concatenate([np.linspace(reach, RIGHT, 160), np.linspace(-3, 3, 96)])
    first = ordinals(fmt, starts.astype(numpy_dtype(dtype)).view(fmt.uint))
    return from_ordinals(fmt, distinct(first[:, None] + np.arange(RUN)))


@dataclass(frozen=True)
class Dense:
    """The target's outputs there: bits by ordinal of x, errors in ulp."""

    fmt: Format
    x: np.ndarray
    got: np.ndarray
    want: np.ndarray
    error: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """x, float64."""
        return to_float64(self.fmt, self.x)

    @property
    def ordinary(self) -> np.ndarray:
        """Where x is between 2^-6 and RIGHT in size, and got and want are finite and normal, but not x, 1 or -1."""
        fmt, size = self.fmt, np.abs(self.value)
        smallest, sign = fmt.uint.type(1 << (fmt.precision - 1)), fmt.uint.type(fmt.sign_mask - 1)
        normal = is_finite(fmt, self.got) & ((self.got & sign) >= smallest) & ((self.want & sign) >= smallest)
        trivial = ((self.want & sign) == (self.x & sign)) | ((self.want & sign) == fmt.uint.type(fmt.one))
        return np.asarray(normal & ~trivial & (size >= 2.0**-6) & (size <= RIGHT))

    def bits(self, at: int) -> tuple[int, int, int]:
        """x, got and want at an index."""
        return int(self.x[at]), int(self.got[at]), int(self.want[at])

    @property
    def ordinal(self) -> np.ndarray:
        """x as ordinals."""
        return ordinals(self.fmt, self.x)
