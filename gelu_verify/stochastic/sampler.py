"""The reference samplers: element i of call `call` is decided by Philox4x32-10 at the counter (i, call), key = seed.

So a result depends on nothing else: not on chunks (`start`), on threads, or on the device (`device.py`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..arrays import float_array
from ..errors import UsageError
from ..fenv import in_default_environment
from ..formats import DTYPES, Format, converted, get_format, to_float64, values
from ..parsing import whole
from ._native import keep
from .maps import Map

LARGEST = (1 << 64) - 1


@in_default_environment
def gelu(x: Any, seed: int, *, call: int = 0, start: int = 0) -> np.ndarray:
    """The stochastic 0-1 map of the GELU paper: m x, m ~ Bernoulli(Phi(x)); its expectation is gelu(x).

    Parameters
    ----------
    x : array of floats, any shape, of one of the four dtypes; elements are numbered in C order
    seed, call : 0 to 2^64 - 1; two that differ give independent results
    start : number of the first element, so that an array can be computed in pieces

    Returns
    -------
    array like x: x, or a zero with the sign of x. P(m = 1) is Phi(x) within 2^-89 (src/stochastic/sampler.h).
    """
    return _applied(Map("gelu"), x, seed, call, start)


@in_default_environment
def adaptive_dropout(x: Any, seed: int, *, call: int = 0, start: int = 0) -> np.ndarray:
    """m x, m ~ Bernoulli(sigmoid(x)); arguments as of `gelu`."""
    return _applied(Map("adaptive_dropout"), x, seed, call, start)


@in_default_environment
def dropout(x: Any, seed: int, *, rate: float = 0.5, scaled: bool = True, call: int = 0, start: int = 0) -> np.ndarray:
    """m x/(1 - rate), or m x where it is not scaled, P(m = 0) = rate; other arguments as of `gelu`."""
    return _applied(Map("dropout", rate, scaled), x, seed, call, start)


@in_default_environment
def relu_dropout(
    x: Any, seed: int, *, rate: float = 0.5, scaled: bool = True, call: int = 0, start: int = 0
) -> np.ndarray:
    """`dropout` of max(x, 0)."""
    return _applied(Map("relu_dropout", rate, scaled), x, seed, call, start)


@in_default_environment
def zoneout(x: Any, previous: Any, seed: int, *, rate: float = 0.5, call: int = 0, start: int = 0) -> np.ndarray:
    """The new state x, or with probability `rate` the previous one; other arguments as of `gelu`."""
    new, fmt = float_array(x, None, DTYPES)
    old, old_fmt = float_array(previous, None, DTYPES)
    if old_fmt.name != fmt.name or old.shape != new.shape:
        raise UsageError(f"previous is {old_fmt.name} {old.shape} (accepted: as x, {fmt.name} {new.shape})")
    kept = mask(Map("zoneout", rate), new, seed, call=call, start=start)
    return np.where(kept, new, old)


def mask(of: Map, x: Any, seed: int, *, call: int = 0, start: int = 0) -> np.ndarray:
    """Which elements are kept, as an array of bool like x."""
    array, fmt = float_array(x, None, DTYPES)
    bits = np.ascontiguousarray(array).view(fmt.uint)
    return _mask(of, fmt, bits, seed, call, start).reshape(array.shape)


def _mask(of: Map, fmt: Format, x_bits: np.ndarray, seed: int, call: int, start: int) -> np.ndarray:
    for name, number in {"seed": seed, "call": call, "start": start}.items():
        whole(name, number, 0, LARGEST)
    kept = np.empty(x_bits.size, np.uint8)
    keep(of.law, to_float64(fmt, x_bits.ravel()), of.rate, seed, call, start, kept)
    return kept.view(bool)


def _applied(of: Map, x: Any, seed: int, call: int, start: int) -> np.ndarray:
    array, fmt = float_array(x, None, DTYPES)
    bits = np.ascontiguousarray(array).view(fmt.uint)
    kept = _mask(of, fmt, bits, seed, call, start).reshape(bits.shape)
    whole_bits = np.where(kept, _kept_bits(of, fmt, bits), of.dropped(fmt, bits))
    return values(fmt, whole_bits).reshape(array.shape)


def _kept_bits(of: Map, fmt: Format, bits: np.ndarray) -> np.ndarray:
    """As `Map.kept`, fast: x/(1 - rate) in double, where one rounding more could differ by a ULP, which is allowed."""
    rectified = of.rectified(fmt, bits)
    if not of.is_scaled or not of.rate:
        return rectified
    with np.errstate(over="ignore"):
        quotient = to_float64(fmt, rectified) / float(1 - Fraction(of.rate))
    double = get_format("float64")
    return converted(double, quotient.view(double.uint), fmt)
