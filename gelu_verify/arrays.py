"""Arguments given as floats: arrays, scalars, anything with `__array__` whose dtype is certain."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .errors import UsageError, one_of
from .formats import FORMATS, Format, dtype_name, get_format, numpy_dtype

_NAMES = {np.dtype(name): name for name in ("float16", "float32", "float64")}  # `dtype.name` takes a microsecond


def float_array(x: Any, dtype: Any = None, accepted: Sequence[str] = tuple(FORMATS)) -> tuple[np.ndarray, Format]:
    """`x` as an array, sharing its memory where it can, and the format of its dtype.

    A Python number becomes `dtype`, default float64; a list is what NumPy makes of it, a pandas object its values.
    UsageError where the dtype is not certain (integers, text, the other byte order), is not `dtype`, or is not among
    the `accepted`, and for masked arrays.
    """
    dtype = dtype if dtype is None else get_format(dtype).name
    if isinstance(x, (bool, str, bytes)):
        raise UsageError(f"{x!r} is not a float or an array of floats")
    if type(x) is float and dtype in (None, "float64"):
        return np.array(x), FORMATS["float64"]
    if (masked := sys.modules.get("numpy.ma")) and isinstance(x, masked.MaskedArray):  # not imported to say no
        raise UsageError("a masked array: pass x.compressed(), or x.filled(numpy.nan)")
    if isinstance(x, (int, float)) and not isinstance(x, np.generic):
        fmt = get_format(dtype or "float64")
        return np.array(_number_bits(fmt, x), fmt.uint).view(numpy_dtype(fmt.name)), fmt
    try:
        array = _as_array(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot read {type(x).__name__} as an array: {error}") from None
    name = _NAMES.get(array.dtype) or _name(array)
    if dtype not in (None, name):
        raise UsageError(f"the array is {name}, not {dtype}: values are never converted on the way in")
    if name not in accepted:
        raise one_of("array dtype", name, list(accepted))
    return array, get_format(name)


def _name(array: np.ndarray) -> str:
    if not array.dtype.isnative:
        name = array.dtype.name
        raise UsageError(f"the array is {name} in the other byte order: accepted is x.astype({name!r})")
    return dtype_name(array)


def _as_array(x: Any) -> np.ndarray:
    torch = sys.modules.get("torch")
    if torch and isinstance(x, torch.Tensor) and x.dtype is torch.bfloat16 and not x.requires_grad:
        bits: np.ndarray = x.view(torch.int16).numpy()  # torch does not hand bfloat16 to NumPy
        return bits.view(numpy_dtype("bfloat16"))
    return np.asarray(x)


def _number_bits(fmt: Format, x: int | float) -> int:
    if isinstance(x, int):
        return fmt.round(Fraction(x))
    return fmt.round(Fraction(x), negative_zero=math.copysign(1, x) < 0) if math.isfinite(x) else fmt.parse(str(x))


def distinct(values: np.ndarray) -> np.ndarray:
    """All values of an array, sorted, each once (np.unique hashes, is up to ten times slower, and imports numpy.ma)."""
    values = np.sort(values, axis=None)
    first = np.ones(values.size, bool)
    first[1:] = values[1:] != values[:-1]
    return values[first]
