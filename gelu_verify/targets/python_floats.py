"""Functions of Python's own numbers: one float at a time, lists, array.array, memoryview.

A Python float is a double. As a result of a narrower dtype it is accepted where it is exactly a number of that dtype;
what is not is refused, unless the call says `rounded(...)`, which rounds once, to nearest even. The same holds of
numbers of any precision: mpmath's, gmpy2's and sympy's, Fraction, Decimal.
"""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from ..errors import TargetFailure, UsageError, one_of
from ..formats import Format, converted, get_format, to_float64
from .arrays import KINDS, OF_MODULES, ArrayKind, bits_of, get_kind

ROUNDS_ONCE = '--call "rounded(f(x))" rounds it once'
_DIGITS = get_format("float64").precision
_CODES = {"float32": "f", "float64": "d"}  # of array.array and memoryview
_DTYPES = {code: dtype for dtype, code in _CODES.items()} | {"e": "float16"}


class NumbersKind(ArrayKind):
    """Lists of Python floats, which the bits become exactly."""

    name = "list"
    roots = ("builtins",)
    classes: tuple[str, ...] = ("list",)

    def from_bits(self, dtype: str, bits: np.ndarray) -> list[float]:
        floats: list[float] = to_float64(get_format(dtype), bits).tolist()
        return floats

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        raise TargetFailure(type(array).__name__)  # which dtype is asked for decides: see `numbers_bits`


class ScalarKind(NumbersKind):
    """The same, handed over one at a time."""

    name = "scalar"
    classes = ()


class BufferKind(ArrayKind):
    """array.array, or memoryview: their type code says the dtype."""

    def __init__(self, root: str, name: str) -> None:
        self.roots, self.name, self.classes = (root,), name, (name,)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        if dtype not in _CODES:
            raise TargetFailure(f"{self.name} has no {dtype} (accepted: {', '.join(_CODES)})")
        made = array.array(_CODES[dtype], bits.tobytes())
        return memoryview(made) if self.name == "memoryview" else made

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        code = array.typecode if self.name == "array" else array.format
        if code not in _DTYPES:
            raise TargetFailure(f"{self.name} of type {code!r}")
        dtype = _DTYPES[code]
        return dtype, np.frombuffer(array, get_format(dtype).uint)


class Rounded(float):
    """A double that is to be rounded once: many of them are rounded together."""


NUMBERS: dict[str, ArrayKind] = {
    kind.name: kind
    for kind in (NumbersKind(), ScalarKind(), BufferKind("array", "array"), BufferKind("builtins", "memoryview"))
}


def any_kind(name: str) -> ArrayKind:
    """The kind that `--array` names; UsageError says what is accepted."""
    if name in NUMBERS:
        return NUMBERS[name]
    try:
        return get_kind(name)
    except UsageError:
        accepted = [*KINDS, *NUMBERS, OF_MODULES]
        raise one_of("array kind", name, accepted) from None


def numbers_bits(name: str, dtype: str, numbers: Sequence[Any]) -> np.ndarray:
    """Bits of a list of results: numbers of Python and NumPy, or arrays of one value."""
    fmt = get_format(dtype)
    found = np.empty(len(numbers), fmt.uint)
    doubles = np.zeros(len(numbers), np.float64)
    plain, to_round = np.zeros((2, len(numbers)), np.bool_)
    for index, number in enumerate(numbers):
        if type(number) is Rounded:
            doubles[index], to_round[index] = number, True
        elif is_of_any_precision(number):
            found[index], is_exact = _nearest(fmt, number)
            if not is_exact:
                raise _not_of(name, dtype, f"{number!r:.60}", index)
        elif type(number) in (float, int, np.float64):
            doubles[index], plain[index] = number, True
        elif isinstance(number, np.generic) or not isinstance(number, (bool, complex, str, list, tuple, type(None))):
            bits = bits_of(name, dtype, number)
            if bits.size != 1:
                raise TargetFailure(f"{name} returned shape {bits.shape} at index {index} of a list", "shape")
            found[index] = bits.reshape(())
        else:
            raise TargetFailure(f"{name} returned {type(number).__name__} at index {index} of a list", "dtype")
    if to_round.all():
        return converted(get_format("float64"), doubles.view(np.uint64), fmt)
    once = converted(get_format("float64"), np.where(to_round, doubles, 0).view(np.uint64), fmt)
    exact = _exact(name, dtype, np.where(plain, doubles, 0))
    return np.where(to_round, once, np.where(plain, exact, found))


def _exact(name: str, dtype: str, doubles: np.ndarray) -> np.ndarray:
    """Bits of doubles that are numbers of that dtype; TargetFailure for one that is not."""
    wide, fmt = get_format("float64"), get_format(dtype)
    bits = converted(wide, doubles.view(np.uint64), fmt)
    other = np.flatnonzero((to_float64(fmt, bits) != doubles) & ~np.isnan(doubles))
    if len(other):
        at = int(other[0])
        raise _not_of(name, dtype, f"{doubles[at].item()!r}, a double,", at)
    return bits


def _not_of(name: str, dtype: str, number: str, index: int) -> TargetFailure:
    message = f"{name} returned {number} at index {index} where {dtype} was expected ({ROUNDS_ONCE})"
    return TargetFailure(message, "dtype")


def is_number(result: Any) -> bool:
    """Whether it is one number: of Python, NumPy or any precision, or an array without dimensions."""
    if isinstance(result, np.ndarray):
        return not result.shape
    if isinstance(result, float | int | np.generic):
        return not isinstance(result, bool)
    return is_of_any_precision(result)


def is_of_objects(result: Any) -> bool:
    """Whether it is an array of Python's objects, as np.frompyfunc returns: a list of numbers in another dress."""
    return isinstance(result, np.ndarray) and result.dtype == object


def is_of_any_precision(number: Any) -> bool:
    """Whether it is a number of fractions, decimal, mpmath, gmpy2 or sympy, or an integer that may be no double."""
    if isinstance(number, int | float | np.generic):
        return type(number) is int and number.bit_length() > _DIGITS
    return isinstance(number, Rational) or hasattr(number, "_mpf_") or hasattr(number, "as_integer_ratio")


def _nearest(fmt: Format, number: Any) -> tuple[int, bool]:
    """Bits of the number of the format that it rounds to, and whether it is that exactly."""
    value: Fraction | tuple[int, int] | None = None
    if hasattr(number, "_mpf_"):  # whose exponent may be anything: a fraction would not fit in memory
        sign, significand, exponent, _ = number._mpf_
        value = (int(-significand if sign else significand), int(exponent)) if significand else None
    elif isinstance(number, Rational):
        value = Fraction(number)
    elif 0 < abs(float(number)) < math.inf:
        value = Fraction(*map(int, number.as_integer_ratio()))
    if value:
        return fmt.round(value), fmt.round(value, "down") == fmt.round(value, "up")
    same = float(number)  # zero or nearly, infinite or nearly, NaN: of the same sign
    return fmt.parse(repr(same)), bool(number == same or number != number)


def rounded(name: str, dtype: str, result: Any) -> np.ndarray | Rounded:
    """A NumPy array of `dtype`: what was returned in that dtype or a wider one, rounded once to nearest even.

    A number is only marked: a million of them are rounded at once.
    """
    if type(result) in (float, int, np.float64) and not is_of_any_precision(result):
        return Rounded(result)
    if is_of_objects(result):
        flat = rounded(name, dtype, result.ravel().tolist())
        return np.asarray(flat).reshape(result.shape)
    kinds = (*KINDS.values(), *NUMBERS.values())
    kind = next((kind for kind in kinds if kind.owns(result) and kind.name != "list"), None)
    fmt = get_format(dtype)
    if kind is None:
        numbers = result if isinstance(result, list | tuple) else [result]
        if any(map(is_of_any_precision, numbers)):
            wide, bits = dtype, np.array([_nearest(fmt, number)[0] for number in numbers], fmt.uint)
        else:
            wide, bits = "float64", numbers_bits(name, "float64", [_widened(number) for number in numbers])
        bits = bits if numbers is result else bits.reshape(())
    else:
        wide, bits = kind.to_bits(kind.wait(result))
    if get_format(wide).precision < fmt.precision:
        raise TargetFailure(
            f"{name} returned {wide}, which is narrower than {dtype}: rounded() cannot mend that", "dtype"
        )
    once = np.atleast_1d(converted(get_format(wide), bits, fmt))
    array: np.ndarray = KINDS["numpy"].from_bits(dtype, once).reshape(bits.shape)
    return array


def _widened(number: Any) -> Any:
    """A NumPy number as a double, which is exact for the dtypes that are judged."""
    return (
        float(number)
        if isinstance(number, np.generic) and number.dtype.kind == "f" and number.itemsize <= 8
        else number
    )
