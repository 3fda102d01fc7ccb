"""Everything there is to say about one input: the correctly rounded result, its neighbours, the exact digits.

What the native core decides is answered in about 0.1 ms; other digits come from the oracle.
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_right
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..errors import OracleError
from ..formats import FORMATS, Format, get_format, to_float64
from ..functions import Function, get_function
from ..functions.regions import REGIONS, region_edges
from ..parsing import whole
from . import _core
from .oracle import enclosed_ends
from .values import exact, float_text, judge, reference_bits, rounded_text

Record = dict[str, Any]
NATIVE_DIGITS = 20
"""Digits that the core's values (2^-88 relative) decide for nearly every input."""
_NATIVE = frozenset(_core.functions())
_NORMAL = float(np.finfo(np.float64).tiny)
Value = tuple[float, float, float, int]  # hi, lo, err, k of src/truth/value.h: |y 2^-k - (hi + lo)| < err
_SCALED = 800  # powers of two up to which hi, lo and err are scaled without loss
_UNKNOWN: Value = (0.0, 0.0, math.inf, 0)
_EXACTLY = decimal.Context(prec=800, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)  # every float64 is exact in it
_SCALES = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_STEP = 64  # log2 of 1/h in a difference quotient
_ENOUGH = 200  # bits of the two values of that quotient
_SPREAD = 2000  # powers of two between the ends of those two values: more where f changes too fast for a quotient
_STEEPEST = 44  # log2 of the largest quotient that is given


def answer(function: str, dtype: str, x_bits: int, digits: int = 40, rounding: str = "nearest") -> Record:
    """The reference for one input, as `gelu-verify lookup --json` prints it (docs/json.md).

    Raises
    ------
    UsageError : unknown names, bits too wide, digits out of range, an unknown rounding
    """
    entry, fmt, digits = get_function(function), get_format(dtype), whole("digits", digits, 1, 5000)
    function = entry.name
    below, above = neighbours(fmt, fmt.check_bits(x_bits))
    asked = [x_bits if bits is None else bits for bits in (x_bits, below, above)]
    results = reference_bits(function, dtype, np.array(asked, fmt.uint), rounding=rounding).tolist()
    y_bits = results[0]
    down, up = neighbours(fmt, y_bits)
    if up == 0 and fmt.is_negative(y_bits):  # a negative value that is rounded up to zero keeps its sign
        up = fmt.sign_mask
    beside = (y_bits if down is None else down, y_bits if up is None else up)
    write = _Writer(fmt, digits, [*asked, *results, *beside])
    x, y = write.values[x_bits], write.values[y_bits]
    native = _core.value(function, x) if function in _NATIVE and x and entry.has_value(fmt, x_bits) else _UNKNOWN
    down, up, error = _around(entry, fmt, x_bits, y_bits, y, beside, native)
    pair = write.pair(x_bits, y_bits)
    return {
        "function": function,
        "dtype": dtype,
        "rounding": rounding,
        **pair,
        "exact": _exact(entry, fmt, x_bits, digits, native) if fmt.is_finite(x_bits) else pair["y"],
        "rounding_error_ulp": error,
        "round_down": write.number(down),
        "round_up": write.number(up),
        "kappa": _kappa(entry, fmt, x_bits, x, native),
        "region": _region(fmt, x_bits),
        "neighbours": {
            "below": None if below is None else write.pair(below, results[1]),
            "above": None if above is None else write.pair(above, results[2]),
        },
    }


def converted(other: Format, fmt: Format, bits: int, text: str) -> int:
    """The bits in `other` of what `text` names: a number anew, rounded once; bits by the value they have in `fmt`."""
    named_by_bits = text.strip().lower().startswith("0x") and "p" not in text.lower()
    if other == fmt or not named_by_bits:
        return other.parse(text)
    if not fmt.is_finite(bits):
        return other.parse(fmt.hex_float(bits))
    return other.round(fmt.fraction(bits), negative_zero=fmt.is_negative(bits))


def is_quick(function: str, dtype: str, x_bits: int, digits: int) -> bool:
    """Whether the core decides, but for one input in millions; else the oracle may be asked, for milliseconds."""
    fmt = FORMATS[dtype]
    if digits > NATIVE_DIGITS or function not in _NATIVE or not _has_gradient(function):
        return False
    if not fmt.is_finite(x_bits) or fmt.magnitude(x_bits) == 0:
        return True
    x = math.ldexp(*fmt.dyadic(x_bits))
    return x >= -8 and abs(x) > _NORMAL


def neighbours(fmt: Format, x_bits: int) -> tuple[int | None, int | None]:
    """The numbers next to x; both zeros count as one; none beyond an infinity or beside a NaN."""
    if fmt.is_nan(x_bits):
        return None, None
    ranks = (fmt.rank(x_bits) - 1, fmt.rank(x_bits) + 1)
    below, above = (abs(rank) | (fmt.sign_mask if rank < 0 else 0) for rank in ranks)
    return (None if fmt.is_nan(below) else below), (None if fmt.is_nan(above) else above)


class _Writer:
    """Numbers of a format as bits, hex floats and decimals, each written once."""

    def __init__(self, fmt: Format, digits: int, bits: list[int]) -> None:
        self.values = dict(zip(bits, to_float64(fmt, np.array(bits, fmt.uint)).tolist(), strict=True))
        self._fmt, self._digits = fmt, digits
        self._texts: dict[int, tuple[str, str, str]] = {}

    def pair(self, x_bits: int, y_bits: int) -> dict[str, str]:
        """An input and its correctly rounded result."""
        x, y = self._text(x_bits), self._text(y_bits)
        return {"x_bits": x[0], "x_hex": x[1], "x": x[2], "y_bits": y[0], "y_hex": y[1], "y": y[2]}

    def number(self, bits: int) -> dict[str, str]:
        text = self._text(bits)
        return {"bits": text[0], "hex": text[1], "decimal": text[2]}

    def _text(self, bits: int) -> tuple[str, str, str]:
        text = self._texts.get(bits)
        if text is None:
            if bits not in self.values:  # an overflow
                self.values[bits] = float(to_float64(self._fmt, np.array([bits], self._fmt.uint))[0])
            text = self._fmt.bits_text(bits), *_texts(self._fmt, bits, self.values[bits], self._digits)
            self._texts[bits] = text
        return text


def written(fmt: Format, bits: int, digits: int) -> dict[str, str]:
    """A number of the format as bits, hex float and decimal."""
    return _Writer(fmt, digits, [bits]).number(bits)


def _texts(fmt: Format, bits: int, value: float, digits: int) -> tuple[str, str]:
    """Hex float and decimal of `value`, exact in float64 as every number of our formats is."""
    if not math.isfinite(value):
        return (text := fmt.hex_float(bits)), text
    if value == 0:
        return ("-0x0p+0", "-0") if fmt.is_negative(bits) else ("0x0p+0", "0")
    if abs(value) < _NORMAL:
        return fmt.hex_float(bits), float_text(value, digits)
    significand, _, exponent = value.hex().partition("p")
    return f"{significand.rstrip('0').rstrip('.')}p{exponent}", float_text(value, digits)


def _around(
    entry: Function, fmt: Format, x_bits: int, y_bits: int, y: float, beside: tuple[int, int], native: Value
) -> tuple[int, int, float | None]:
    """f(x) rounded down and up, and the error of y in ulp; y alone where f(x) is not a number."""
    if not entry.has_value(fmt, x_bits):
        return y_bits, y_bits, None
    below, above = beside
    hi, lo, err = (math.ldexp(part, native[3]) for part in native[:3]) if abs(native[3]) < _SCALED else _UNKNOWN[:3]
    excess = (y - hi) - lo  # y - hi is exact where it decides: the two are close
    if y and abs(excess) > 4 * err and abs(hi) > 2.0**-_SCALED and fmt.magnitude(y_bits) < fmt.max_finite:
        significand, exponent = math.frexp(hi)
        if abs(significand) != 0.5:  # else the exact value may lie in the binade below
            error = math.ldexp(excess, fmt.precision - 1 - max(exponent - 1, fmt.emin))
            return (below, y_bits, error) if excess > 0 else (y_bits, above, error)
    down, up = (reference_bits(entry.name, fmt.name, x_bits, rounding=mode) for mode in ("down", "up"))
    if fmt.is_nan(y_bits):  # overflow in a format without infinities
        return down, up, None
    error = float(judge(entry.name, fmt.name, *(np.array([bits], fmt.uint) for bits in (x_bits, y_bits))).error[0])
    return down, up, error if math.isfinite(error) else None


def _region(fmt: Format, x_bits: int) -> str | None:
    """Name of the interval of x that results are split by; None where x is not finite."""
    if not fmt.is_finite(x_bits):
        return None
    return REGIONS[bisect_right(_edges(fmt.name), fmt.ordinal(x_bits)) - 1].name


@cache
def _edges(dtype: str) -> list[int]:
    """As `region_edges`, for one input at a time."""
    edges: list[int] = region_edges(dtype).tolist()
    return edges


# ---- exact digits and conditioning ---------------------------------------------------------------


def _exact(entry: Function, fmt: Format, x_bits: int, digits: int, native: Value) -> str | None:
    """Digits of f(x); None where its exponent is too large for decimals."""
    if not entry.has_value(fmt, x_bits):
        return exact(entry.name, fmt.bits_text(x_bits), fmt.name, digits=digits)
    if digits <= NATIVE_DIGITS and (text := _native_digits(native, digits)) is not None:
        return text
    try:
        return exact(entry.name, fmt.bits_text(x_bits), fmt.name, digits=digits)
    except OracleError:  # beyond 2^(2^61), as a narrow normal law is soon
        return None


def _native_digits(native: Value, digits: int) -> str | None:
    """The digits, where the core's value and its bound decide them."""
    hi, lo, err, k = native
    if err == 0 or err > abs(hi) * 2.0**-70:
        return None
    centre = _EXACTLY.add(decimal.Decimal(hi), decimal.Decimal(lo))
    margin = decimal.Decimal(max(2 * err, abs(hi) * 1e-50))
    ends = _EXACTLY.subtract(centre, margin), _EXACTLY.add(centre, margin)
    if k:
        scale = _SCALES.power(decimal.Decimal(2), k)
        ends = _SCALES.multiply(ends[0], scale), _SCALES.multiply(ends[1], scale)
    low, high = rounded_text(ends[0], digits), rounded_text(ends[1], digits)
    return low if low == high else None


def _has_gradient(function: str) -> bool:
    """Whether the core has the derivative too."""
    return f"{function}_grad" in _NATIVE


def _kappa(entry: Function, fmt: Format, x_bits: int, x: float, native: Value) -> float | None:
    """|x f'(x) / f(x)|: relative change of the result per relative change of x. None where it has no meaning."""
    if not entry.has_value(fmt, x_bits) or fmt.magnitude(x_bits) == 0:
        return None
    if _has_gradient(entry.name) and entry.name in _NATIVE:
        ratio, k = _quotient_of(_core.value(f"{entry.name}_grad", x), native)
        if ratio is not None and abs(k) < _SCALED:
            return _short(abs(math.ldexp(x * ratio, k)))
    return _quotient(entry, fmt, x_bits)


def _quotient_of(slope: Value, value: Value) -> tuple[float | None, int]:
    """slope / value as a float and a power of two; None where only the sign of one is certain."""
    (a, _, a_err, j), (b, _, b_err, k) = slope, value
    if a_err > abs(a) * 2.0**-50 or b_err > abs(b) * 2.0**-50 or b == 0:
        return None, 0
    return a / b, j - k


def _quotient(entry: Function, fmt: Format, x_bits: int) -> float | None:
    """The same as a difference quotient of exact values: good to 11 digits for every function, up to 2^44."""
    m, e = fmt.dyadic(x_bits)
    try:
        if not any(m for m, _ in enclosed_ends(entry, (m, e), 1)):  # log at 1
            return None
        ends = [enclosed_ends(entry, ((m << _STEP) + side * m, e - _STEP), _ENOUGH) for side in (-1, 1)]
    except OracleError:
        return None
    unit = min(e for pair in ends for _, e in pair)
    if any(e - unit > _SPREAD for pair in ends for _, e in pair):
        return None
    below, above = (sum(m << (e - unit) for m, e in pair) for pair in ends)
    difference, total = abs(above - below), abs(above + below)
    if not total or difference << (_STEP - _STEEPEST) > total:
        return None
    return _short(float(Fraction(difference << _STEP, total)))


def _short(kappa: float) -> float | None:
    return float(f"{kappa:.12g}") if math.isfinite(kappa) else None
