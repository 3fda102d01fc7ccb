"""a*b + c with one rounding, for arrays: what an fma instruction gives."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

import numpy as np

from .error_free import two_product, two_sum

_FACTOR = 2.0**-960, 2.0**990  # sizes that `two_product` takes
_TERM = 2.0**-800, 2.0**900  # of products and addends: no step over- or underflows


def fused(precision: int, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Rounded once to `precision` bits: of float32 arrays to 24 or fewer, or of float64 arrays.

    With fewer than 24 bits, a float32 that still has to be rounded, to odd: rounding that one gives the right result
    (24 >= p + 2; Boldo and Melquiond 2008).
    """
    if a.dtype == np.float64:
        return _fused_float64(*np.broadcast_arrays(a, b, c))
    s, e = two_sum(a.astype(np.float64) * b, c.astype(np.float64))  # the product is exact
    odd = _to_odd(s, e)
    nearest = odd.astype(np.float32)
    if precision == 24:
        return nearest
    return _to_odd(nearest, odd - nearest)


def _fused_float64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """By the sum of three that is rounded to odd before the last one (Boldo and Melquiond 2008, Fma emulation); by libm
    where a number is so large, so small or so special that one of the steps would not be exact."""
    with np.errstate(all="ignore"):
        high, low = two_product(a, b)
        usual = _within(_FACTOR, a) & _within(_FACTOR, b) & _within(_TERM, high) & (_within(_TERM, c) | (c == 0))
        upper, lower = two_sum(c, low)
        s, rest = two_sum(high, upper)
        found: np.ndarray = s + _to_odd(*two_sum(rest, lower))
        rare = ~usual
        found[rare] = _libm_fma()(a[rare], b[rare], c[rare]).astype(np.float64)
    return found


def _within(ends: tuple[float, float], values: np.ndarray) -> np.ndarray:
    sizes = np.abs(values)
    return np.asarray((sizes >= ends[0]) & (sizes <= ends[1]))


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
