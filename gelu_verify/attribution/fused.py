"""a*b + c with one rounding, for arrays: what an fma instruction gives."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

import numpy as np

from ..truth.pairs import two_sum


def fused(precision: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Rounded once to `precision` bits: of float32 arrays to 24 or fewer, or of float64 arrays.

    With fewer than 24 bits, a float32 that still has to be rounded, to odd: rounding that one gives the right result
    (24 >= p + 2; Boldo and Melquiond 2008).
    """
    if a.dtype == np.float64:
        exact: np.ndarray = _libm_fma()(a, b, c)
        return exact.astype(np.float64)
    s, e = two_sum(a.astype(np.float64) * b, c.astype(np.float64))  # the product is exact
    odd = _to_odd(s, e)
    nearest = odd.astype(np.float32)
    if precision == 24:
        return nearest
    return _to_odd(nearest, odd - nearest)


def _to_odd(rounded: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """`rounded` + `rest` rounded to odd: where something is left, the neighbour whose last bit is set."""
    even = rounded.view(f"u{rounded.itemsize}") & 1 == 0
    towards = np.copysign(np.inf, rest).astype(rounded.dtype)
    return np.where((rest != 0) & even & np.isfinite(rounded), np.nextafter(rounded, towards), rounded)


@cache
def _libm_fma() -> Any:
    fma = ctypes.CDLL(ctypes.util.find_library("m")).fma
    fma.restype, fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return np.frompyfunc(fma, 3, 1)
