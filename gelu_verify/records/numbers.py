"""Numbers as a reader sees them, in sentences and in every report: short, and never better than the truth."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from functools import lru_cache

from ..formats import Format

NONE = "\N{EN DASH}"
LIMITS = (Decimal("0.5"), Decimal(1), Decimal(4))  # what is above one of them does not read as if it were not
UNKNOWN = Decimal(1) / (1 << 16)  # an error in ULP is known to within that
_WHOLE_BELOW = 10_000  # errors are written out below it, as d.dde+n from it on
_PLAIN = range(-5, 7)  # decimal exponents of inputs that are written without one


def ulp_text(value: float | None, bound: str = "=", digits: int = 3) -> str:
    """An error in ULP, rounded so that the statement stays true: '=' up, '>=' down."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "inf"
    text = _ulp_text(Decimal(value), ROUND_DOWN if bound == ">=" else ROUND_UP, digits)
    beyond = any(
        Decimal(text) == limit < Decimal(value) - UNKNOWN for limit in LIMITS
    )  # only where it was rounded down
    return ulp_text(value, bound, digits + 1) if beyond else text


def _ulp_text(exact: Decimal, mode: str, digits: int) -> str:
    if exact < _WHOLE_BELOW:
        places = max(digits - (max(exact.adjusted(), -1) if exact else -1) - 1, 0)
        return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=mode):f}"
    leading = exact.scaleb(-exact.adjusted()).quantize(Decimal(1).scaleb(1 - digits), rounding=mode)
    carry = leading >= 10
    return f"{leading / 10 if carry else leading:.{digits - 1}f}e{exact.adjusted() + carry}"


def inward_text(value: float) -> str:
    """The end of an interval around zero to three digits, rounded toward zero: what is said of it stays true."""
    return _rounded_text(value, 3, ROUND_DOWN)


def up_text(value: float, digits: int = 3) -> str:
    """A size to so many digits, rounded up: what is said of it stays true."""
    return _rounded_text(value, digits, ROUND_UP)


def size_text(value: float, bound: str) -> str:
    """A size to three digits: '=' rounded up, '>=' down."""
    return _rounded_text(value, 3, ROUND_DOWN if bound == ">=" else ROUND_UP)


def _rounded_text(value: float, digits: int, mode: str) -> str:
    exact = Decimal(value)
    unit = Decimal(1).scaleb((exact.adjusted() if exact else 0) - digits + 1)
    return f"{float(exact.quantize(unit, mode)):.{digits}g}"


@lru_cache(maxsize=65536)
def input_text(fmt: Format, bits: int) -> str:
    """The shortest decimal that names exactly this number of the dtype: it reproduces what is said of it."""
    sign = "-" if fmt.is_negative(bits) else ""
    if fmt.is_nan(bits):
        return "nan"
    if not fmt.is_finite(bits):
        return f"{sign}inf"
    if fmt.magnitude(bits) == 0:
        return f"{sign}0"
    significand, exponent = fmt.dyadic(bits)
    value = math.ldexp(significand, exponent)
    candidates = (f"{value:.{digits}g}" for digits in range(1, 18))
    text = repr(value) if fmt.width == 64 else next(text for text in candidates if fmt.parse(text) == bits)
    return f"{Decimal(text):f}".removesuffix(".0") if Decimal(text).adjusted() in _PLAIN else text
