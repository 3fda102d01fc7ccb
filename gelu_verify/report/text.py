"""Numbers as a reader sees them: short, aligned, and never better than the truth."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Decimal
from functools import lru_cache

from ..formats import get_format
from ..records.numbers import LIMITS, NONE, UNKNOWN, input_text, ulp_text
from ..show.chart import MINUS

__all__ = ["LIMITS", "MINUS", "NONE", "UNKNOWN", "ulp_text"]


def share_text(share: float | None) -> str:
    """A fraction as per cent, rounded down: only a full share reads '100 %'."""
    if share is None:
        return NONE
    if share >= 1:
        return "100 %"
    percent = Decimal(share) * 100
    return f"{percent.quantize(Decimal('0.01' if percent >= 1 else '0.001'), rounding=ROUND_DOWN):f} %"


def number_text(value: float | None, digits: int = 3, signed: bool = False) -> str:
    """A plain number to `digits` significant digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    return f"{value:{'+' if signed else ''}.{digits}g}"


def count_text(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def rate_text(elements_per_s: float | None) -> str:
    """Elements per second: '1.10 G/s', '630 M/s'."""
    if elements_per_s is None:
        return NONE
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if elements_per_s >= limit:
            scaled = elements_per_s / limit
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}/s"
    return f"{elements_per_s:.0f} /s"


def value_text(dtype: str, bits_text: str | None) -> str | None:
    """The shortest decimal that names the value of these bits in `dtype`; None for no bits."""
    return None if bits_text is None else input_text(get_format(dtype), int(bits_text, 16))


def exact_text(dtype: str, bits_text: str | None) -> str | None:
    """The shortest decimal that float64 reads back to the value of these bits; None for no bits."""
    return None if bits_text is None else _exact_text(dtype, int(bits_text, 16))


def short_value(dtype: str, bits_text: str | None, digits: int = 6) -> str:
    """The value to a few digits, for tables that also show the bits."""
    full = value_text(dtype, bits_text)
    if full is None:
        return NONE
    short = f"{float(full):.{digits}g}"
    return short if len(short) < len(full) else full


@lru_cache(maxsize=65536)
def _exact_text(dtype: str, bits: int) -> str:
    fmt = get_format(dtype)
    if not fmt.is_finite(bits):
        return fmt.hex_float(bits)
    if fmt.magnitude(bits) == 0:
        return "-0.0" if fmt.is_negative(bits) else "0.0"
    return repr(math.ldexp(*fmt.dyadic(bits)))
