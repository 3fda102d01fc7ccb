"""Arithmetic of a network in one dtype: float32 or float64 inside, rounded to the dtype after each operation.

Numbers of float16 and bfloat16 are held in float32 arrays, and a sum, product or quotient of them that was rounded to
float32 and then to the dtype is rounded correctly: 24 bits are at least 2 p + 2. A linear layer is computed in float32
and rounded once, as matrix units do."""

from __future__ import annotations

import numpy as np

from ..formats import get_format

_LOSS_SCALE = {"float16": 1024.0}  # gradients of small losses are subnormal in float16


class RoundedArithmetic:
    """Rounding to `dtype`, bits of it, and the NumPy dtype `work` that operations are computed in."""

    def __init__(self, dtype: str) -> None:
        self.dtype = get_format(dtype).name
        self.work: type = np.float64 if dtype == "float64" else np.float32
        self.loss_scale = _LOSS_SCALE.get(dtype, 1.0)

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """`values` of the dtype `work`, rounded to nearest even, as `formats.converted` rounds."""
        if self.dtype == "float16":
            return _to_float16(values)
        return _to_bfloat16(values) if self.dtype == "bfloat16" else values

    def bits(self, values: np.ndarray) -> np.ndarray:
        """Bits of numbers of the dtype, 1-D and contiguous."""
        flat = np.ascontiguousarray(values).reshape(-1)
        if self.dtype == "float16":
            return flat.astype(np.float16).view(np.uint16)
        if self.dtype == "bfloat16":
            return (flat.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return flat.view(get_format(self.dtype).uint)

    def values(self, bits: np.ndarray) -> np.ndarray:
        """The numbers of bits, in the dtype `work`."""
        if self.dtype == "float16":
            return bits.view(np.float16).astype(np.float32)
        if self.dtype == "bfloat16":
            return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return bits.view(self.work)


def _to_bfloat16(values: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(values), np.float32(np.nan), _shortened(values, 16))


def _to_float16(values: np.ndarray) -> np.ndarray:
    size = np.abs(values)
    found = _shortened(values, 13)
    if (size < np.float32(2**-14)).any():  # subnormal: multiples of 2^-24, the spacing of float32 from 1/2 to 1
        whole = np.copysign((size + np.float32(0.75)) - np.float32(0.75), values)
        found = np.where(size < np.float32(2**-14), whole, found)
    if not (size < np.float32(65520)).all():
        found = np.where(size < np.float32(65520), found, np.copysign(np.float32(np.inf), values))
        found = np.where(np.isnan(values), np.float32(np.nan), found)
    return found


def _shortened(values: np.ndarray, dropped: int) -> np.ndarray:
    """Finite normal numbers without their last bits, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    last = (bits >> np.uint32(dropped)) & np.uint32(1)
    nearest = bits + (np.uint32((1 << (dropped - 1)) - 1) + last)
    return (nearest & np.uint32((1 << 32) - (1 << dropped))).view(np.float32)
