"""Kernels with parameters, compiled from src/parameters/: x Phi((x - mu)/sigma) and the like, plainly written."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ..formats import get_format, to_float64
from . import KernelTable, _parameters

_TABLE = KernelTable(_parameters)
PARAMETERIZED = _TABLE.kernels


def arguments(name: str, dtype: str, values: Mapping[str, Fraction]) -> tuple[float, float]:
    """What a kernel of that name takes: each parameter rounded once to the format that it computes in."""
    fmt = get_format("float32" if name.endswith("-f32") else dtype)
    bits = np.array([fmt.round(value) for value in values.values()], fmt.uint)
    first, second = (*to_float64(fmt, bits).tolist(), 0.0, 0.0)[:2]
    return first, second


def run(values: Mapping[str, Fraction], name: str, dtype: str, x_bits: np.ndarray, out_bits: np.ndarray) -> None:
    """As `gelu_verify.kernels.run`, with the parameters of the function in their order."""
    _TABLE.run(name, dtype, x_bits, out_bits, *arguments(name, dtype, values))
