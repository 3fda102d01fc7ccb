"""Outputs of functions with a second input judged, for one second input of the format: any of its bit patterns.

A second input that is a finite number is a parameter: what `judge("swiglu[g=0.5]", ...)` says; -0 is 0, and where g is
0 a zero of either sign is right. Where it is none, no exact number is due but what IEEE 754 makes of the formula:

    g f(x)     g NaN          NaN
               g = +-inf      f(x) != 0: the infinity that has the sign of g f(x), also where f(x) is below every number
                              of the format; f(x) = 0: NaN, as inf * 0 is; x = -inf where f tends to 0: any output is
                              right, as the limits say nothing; x = +-inf else: the infinity; x NaN: NaN
    f(x + b)   b NaN          NaN
               b = +-inf      the limit of f at b, for every finite x and for x = b; x = -b: NaN, as inf - inf is;
                              x NaN: NaN

Such an infinity is judged as a pole is, NaN as outside of the domain (src/truth/judge.h).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..errors import UsageError
from ..fenv import in_default_environment
from ..formats import Format, get_format, is_nan, is_zero, numpy_dtype, to_float64
from ..functions import Function, get_function, named
from ..functions.parameters import Parameter
from . import _core
from .carried import VALUE
from .values import Judgement, enclosures, judge, reference_bits


class Second(NamedTuple):
    """A function with a second input, without a value of it."""

    function: Function
    parameter: Parameter
    inner: Function
    """The function of x."""

    @property
    def is_factor(self) -> bool:
        """Whether it is g f(x): else f(x + b)."""
        return self.parameter.taken_as == "factor"

    def at(self, fmt: Format, second_bits: int) -> Function:
        """The function of x for a second input that is a finite number."""
        return get_function(named(self.function.name, {self.parameter.name: fmt.fraction(second_bits)}))

    def known_at(self, fmt: Format, second_bits: int) -> Function:
        """The same for any second input, for its facts: of one that is no finite number no shape is stated."""
        if fmt.is_finite(second_bits):
            return self.at(fmt, second_bits)
        return replace(self.function, turning_points=None, at_most_x=False)


def of_two_inputs(function: str) -> Second:
    """UsageError where it has no second input."""
    entry = get_function(function)
    if entry.inner is None or len(entry.parameters) != 1 or "[" in entry.name:
        raise UsageError(f"{function} has no second input that is not given (accepted: as swiglu, bias_gelu)")
    return Second(entry, entry.parameters[0], get_function(entry.inner))


def judge_pair(function: str, dtype: str, second_bits: int, x_bits: np.ndarray, got_bits: np.ndarray) -> Judgement:
    """As `judge`, of g f(x) or f(x + b) for one second input, any bit pattern of the format.

    Parameters
    ----------
    function, dtype : str
        "swiglu", "bias_gelu", ...; a format of 16 bits or more
    second_bits : int
        g or b
    x_bits, got_bits : unsigned arrays of one shape, of the format's width

    >>> x, got = np.array([0x3F80], np.uint16), np.array([0x7F80], np.uint16)
    >>> judge_pair("swiglu", "bfloat16", 0x7F80, x, got).error  # g = inf
    array([0.])
    """
    second, fmt = of_two_inputs(function), get_format(dtype)
    if fmt.is_finite(fmt.check_bits(second_bits)):
        return judge(second.at(fmt, second_bits).name, dtype, x_bits, got_bits)
    if x_bits.shape != got_bits.shape or not x_bits.dtype == got_bits.dtype == fmt.uint:
        raise UsageError(f"x_bits and got_bits must be arrays of {fmt.uint} of one shape")
    x, got = (np.ascontiguousarray(bits.reshape(-1)) for bits in (x_bits, got_bits))
    values, limits = _due(second, fmt, second_bits, x, got)
    want, error, flags = np.empty_like(x), np.empty(x.size), np.zeros(x.size, np.uint8)
    at = np.where(is_zero(fmt, x), fmt.uint.type(fmt.one), x)  # at zeros too the values say what is due
    outputs, results = got.view(np.uint8), want.view(np.uint8)
    _core.judge(values.view(np.uint8), fmt.layout, limits, 0.0, at.view(np.uint8), outputs, results, error, flags)
    faithful = flags & _core.FAITHFUL != 0
    if second.is_factor and not fmt.is_nan(second_bits) and _vanishes_left(second.inner):
        anything = x == fmt.infinity | fmt.sign_mask
        want[anything], faithful[anything] = got[anything], True
    return Judgement(*(array.reshape(x_bits.shape) for array in (want, error, faithful)))


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


def _due(
    second: Second, fmt: Format, second_bits: int, x: np.ndarray, got: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the formula gives for a second input that is no finite number, as values of the core: infinite for an
    infinity, NaN for NaN; and what is due at NaN, -inf, inf, -0, 0, with the bits of infinity."""
    values = np.zeros(x.size, VALUE)
    minus, plus = (second.inner.limit_bits(fmt, bits) for bits in (fmt.infinity | fmt.sign_mask, fmt.infinity))
    negative = fmt.is_negative(second_bits)
    if fmt.is_nan(second_bits):
        values["hi"], minus, plus = np.nan, fmt.nan, fmt.nan
    elif second.is_factor:
        sign = _signs(second.inner, fmt, x, got) * (-1.0 if negative else 1.0)
        values["hi"] = np.where(sign == 0, np.nan, np.copysign(np.inf, sign))
        plus = fmt.infinity | (fmt.sign_mask if negative != fmt.is_negative(plus) else 0)
        minus = fmt.infinity | (fmt.sign_mask if negative != fmt.is_negative(minus) else 0)
    else:
        limit = minus if negative else plus
        values["hi"] = to_float64(fmt, np.array([limit], fmt.uint))
        minus, plus = (limit, fmt.nan) if negative else (fmt.nan, limit)
    return values, np.array([fmt.nan, minus, plus, fmt.nan, fmt.nan, fmt.infinity], np.uint64)


def _signs(inner: Function, fmt: Format, x: np.ndarray, got: np.ndarray) -> np.ndarray:
    """The sign of the exact f(x), 0 where that is 0; at a jump one that makes the output right, where one does."""
    values = enclosures(inner.name, fmt.name, x).values.view(VALUE)["hi"].copy()
    at_zero = [inner.at_zero, *inner.also.get("0", ())]
    numbers = [0.0 if limit in ("x", "-x") else float(Fraction(str(limit))) for limit in at_zero]
    zero = is_zero(fmt, x)
    values[zero] = numbers[0]
    for other in numbers[1:]:
        values[zero & (is_nan(fmt, got) == (other == 0.0))] = other
    signs: np.ndarray = np.sign(values)
    return signs


def _vanishes_left(inner: Function) -> bool:
    """Whether f tends to 0 at -inf."""
    return inner.at_minus_infinity in ("0", "-0")
