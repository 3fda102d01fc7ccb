"""Everything there is to say about one input: the correctly rounded result, its neighbours, the exact digits.

What the native core decides is answered in about 0.1 ms; other digits come from the oracle.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from . import _core
from .errors import OracleError
from .formats import FORMATS, Format, get_format
from .functions import FUNCTIONS, Function, get_function
from .oracle import enclose, round_exactly
from .reference import exact, judge, reference_bits, rounded_text
from .regions import REGIONS, region_edges

Record = dict[str, Any]
NATIVE_DIGITS = 20
"""Digits that the core's values (2^-88 relative) settle for nearly every input."""
_FLOAT64 = FORMATS["float64"]
_NATIVE = frozenset(_core.functions())
_EXACTLY = decimal.Context(prec=800, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)  # every float64 is exact in it
_SCALES = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_STEP = 64  # log2 of 1/h in a difference quotient
_ENOUGH = 200  # bits of the two values of that quotient
# Where float64 gives zero or infinity, digits cost seconds farther out: exact() of gelu(-2000) takes 26 s.
_REACH = {True: 64.0, False: 1024.0}  # by whether the result is zero


def answer(function: str, dtype: str, x_bits: int, digits: int = 40) -> Record:
    """One answer, as `gelu-verify lookup --json` prints it (docs/json.md).

    Raises
    ------
    UsageError : unknown names, bits too wide, digits out of range
    """
    entry, fmt = get_function(function), get_format(dtype)
    below, above = neighbours(fmt, fmt.check_bits(x_bits))
    asked = [x_bits if bits is None else bits for bits in (x_bits, below, above)]
    results = [int(y) for y in reference_bits(function, dtype, np.array(asked, fmt.uint))]
    y_bits = results[0]
    down, up, error = _around(entry, fmt, x_bits, y_bits)
    pair = _pair(fmt, x_bits, y_bits, digits)
    y = {"bits": pair["y_bits"], "hex": pair["y_hex"], "decimal": pair["y"]}
    return {
        "function": function,
        "dtype": dtype,
        **pair,
        "exact": _exact(entry, fmt, x_bits, digits) if fmt.is_finite(x_bits) else pair["y"],
        "rounding_error_ulp": error,
        "round_down": y if down == y_bits else value(fmt, down, digits),
        "round_up": y if up == y_bits else value(fmt, up, digits),
        "kappa": _kappa(entry, fmt, x_bits),
        "region": _region(fmt, x_bits),
        "neighbours": {
            "below": None if below is None else _pair(fmt, below, results[1], digits),
            "above": None if above is None else _pair(fmt, above, results[2], digits),
        },
    }


def elsewhere(function: str, dtypes: Iterable[str], text: str, dtype: str, digits: int = 40) -> Record:
    """{dtype: answer} for the number that `text` names in `dtype`: bits stand for their value there."""
    fmt = get_format(dtype)
    bits = fmt.parse(text)
    return {other: answer(function, other, converted(get_format(other), fmt, bits, text), digits) for other in dtypes}


def converted(other: Format, fmt: Format, bits: int, text: str) -> int:
    """The bits in `other` of what `text` names: a number anew, rounded once; bits by the value they have in `fmt`."""
    named_by_bits = text.strip().lower().startswith("0x") and "p" not in text.lower()
    if other == fmt or not named_by_bits:
        return other.parse(text)
    if not fmt.is_finite(bits):
        return other.parse(fmt.hex_float(bits))
    return other.round(fmt.fraction(bits), negative_zero=fmt.is_negative(bits))


def is_quick(function: str, dtype: str, x_bits: int, digits: int) -> bool:
    """Whether the core answers, but for one input in millions; else the oracle may be asked, for milliseconds."""
    fmt = FORMATS[dtype]
    if digits > NATIVE_DIGITS or function not in _NATIVE or fmt.width < 16 or not _has_gradient(function):
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


def value(fmt: Format, bits: int, digits: int) -> dict[str, str]:
    """A number of the format as bits, hex float and decimal."""
    return {"bits": fmt.bits_text(bits), "hex": fmt.hex_float(bits), "decimal": _decimal(fmt, bits, digits)}


def _pair(fmt: Format, x_bits: int, y_bits: int, digits: int) -> dict[str, str]:
    """An input and its correctly rounded result, each as bits, hex float and decimal."""
    return {
        "x_bits": fmt.bits_text(x_bits),
        "x_hex": fmt.hex_float(x_bits),
        "x": _decimal(fmt, x_bits, digits),
        "y_bits": fmt.bits_text(y_bits),
        "y_hex": fmt.hex_float(y_bits),
        "y": _decimal(fmt, y_bits, digits),
    }


def _decimal(fmt: Format, bits: int, digits: int) -> str:
    if not fmt.is_finite(bits):
        return fmt.hex_float(bits)
    if fmt.magnitude(bits) == 0:
        return "-0" if fmt.is_negative(bits) else "0"
    return rounded_text(_float(fmt, bits), digits)


def _float(fmt: Format, bits: int) -> decimal.Decimal:
    """The exact value of finite bits: every format here lies within float64."""
    return decimal.Decimal(math.ldexp(*fmt.dyadic(bits)))


def _around(entry: Function, fmt: Format, x_bits: int, y_bits: int) -> tuple[int, int, float | None]:
    """f(x) rounded down and up, and the error of y in ulp; y alone where x is not finite."""
    if not fmt.is_finite(x_bits):
        return y_bits, y_bits, None
    if fmt.is_nan(y_bits):  # overflow in a format without infinities
        return round_exactly(entry, fmt, x_bits, "down"), round_exactly(entry, fmt, x_bits, "up"), None
    below, above = (y_bits if bits is None else bits for bits in neighbours(fmt, y_bits))
    got = np.array([y_bits, below, above], fmt.uint)
    _, error, faithful = judge(entry.name, fmt.name, np.full(3, x_bits, fmt.uint), got)
    down = below if faithful[1] and fmt.is_finite(below) else y_bits
    up = above if faithful[2] else y_bits
    return down, up, float(error[0]) if math.isfinite(error[0]) else None


def _region(fmt: Format, x_bits: int) -> str | None:
    """Name of the interval of x that results are split by; None where x is not finite."""
    if not fmt.is_finite(x_bits):
        return None
    return REGIONS[int(np.searchsorted(region_edges(fmt.name), fmt.ordinal(x_bits), side="right")) - 1].name


# ---- exact digits and conditioning ---------------------------------------------------------------


def _exact(entry: Function, fmt: Format, x_bits: int, digits: int) -> str | None:
    """Digits of f(x); None where they would say nothing (beyond float64) and cost seconds."""
    if digits <= NATIVE_DIGITS and entry.name in _NATIVE:
        text = _native_digits(entry.name, math.ldexp(*fmt.dyadic(x_bits)), digits)
        if text is not None:
            return text
    return exact(entry.name, fmt.bits_text(x_bits), digits, fmt.name) if _within_reach(entry, fmt, x_bits) else None


def _native_digits(function: str, x: float, digits: int) -> str | None:
    """The digits, where the core's value and its bound decide them."""
    if x == 0:
        return None
    hi, lo, err, k = _core.value(function, x)
    if err == 0 or err > abs(hi) * 2.0**-70:
        return None
    scale, centre = _SCALES.power(decimal.Decimal(2), k), _EXACTLY.add(decimal.Decimal(hi), decimal.Decimal(lo))
    margin = decimal.Decimal(max(2 * err, abs(hi) * 1e-50))
    low, high = (
        rounded_text(_SCALES.multiply(_EXACTLY.add(centre, side), scale), digits) for side in (-margin, margin)
    )
    return low if low == high else None


def _within_reach(entry: Function, fmt: Format, x_bits: int) -> bool:
    """Whether digits of f(x) are had in milliseconds."""
    x = abs(math.ldexp(*fmt.dyadic(x_bits)))
    if x <= min(_REACH.values()):
        return True
    wide = _wide(entry.name, fmt, x_bits)
    return 0 < abs(wide) < math.inf or (math.isinf(wide) and x <= _REACH[False])


def _wide(function: str, fmt: Format, x_bits: int) -> float:
    """f(x) in float64."""
    bits = np.array(math.ldexp(*fmt.dyadic(x_bits))).view(np.uint64)
    return float(reference_bits(function, "float64", bits).view(np.float64))


def _has_gradient(function: str) -> bool:
    return f"{function}_grad" in FUNCTIONS


def _kappa(entry: Function, fmt: Format, x_bits: int) -> float | None:
    """|x f'(x) / f(x)|: relative change of the result per relative change of x. None where it has no meaning."""
    if not fmt.is_finite(x_bits) or fmt.magnitude(x_bits) == 0:
        return None
    x = math.ldexp(*fmt.dyadic(x_bits))
    if _has_gradient(entry.name):
        y, slope = _wide(entry.name, fmt, x_bits), _wide(f"{entry.name}_grad", fmt, x_bits)
        if abs(y) > _NORMAL and abs(slope) > _NORMAL and math.isfinite(y):
            return _short(abs(x / y * slope) if abs(x) < 1 else abs(x * (slope / y)))
    return _quotient(entry, fmt, x_bits) if _within_reach(entry, fmt, x_bits) else None


_NORMAL = float(np.finfo(np.float64).tiny)


def _quotient(entry: Function, fmt: Format, x_bits: int) -> float | None:
    """The same as a difference quotient of exact values: good to 15 digits for every function."""
    m, e = fmt.dyadic(x_bits)
    try:
        low, high = (sum(enclose(entry, ((m << _STEP) + side * m, e - _STEP), _ENOUGH)) / 2 for side in (-1, 1))
    except OracleError:
        return None
    if low + high == 0:
        return None
    return _short(float(abs((high - low) * Fraction(2) ** _STEP / (high + low))))


def _short(kappa: float) -> float | None:
    return float(f"{kappa:.12g}") if math.isfinite(kappa) else None
