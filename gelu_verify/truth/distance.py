"""How far one output is from the exact value, as numbers: the absolute and the relative error.

`values.judge` says the same in ULP, for arrays. Here the output is subtracted exactly from the middle of an enclosure
of the exact value that is narrower than 2^-20 of the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ..formats import Dyadic, Format, get_format
from ..functions import Function, get_function
from ..functions.enclosures import Enclosure, endpoints, fraction
from ..functions.limits import bounds_of
from . import _core

_NATIVE = frozenset(_core.functions())
_PRECISIONS = (128, 512, 2048)  # bits of enclosures where the core's value is too close to the output
_ENOUGH = Fraction(1, 1 << 20)  # of the difference
_REACH = 5000  # powers of two: beyond them everything is zero, or infinite, to a float64
_NOTHING = Fraction(1, 1 << 1080)  # so is what is below it


@lru_cache(maxsize=65536)
def distance(function: str, dtype: str, x_bits: int, got_bits: int) -> tuple[float, float] | None:
    """|got - y| and |got - y| / |y| for the exact y = f(x), to six digits or more; None where one is not finite.

    The relative error is 0 where got = y = 0. What is beyond the range of float64 is 0 or infinite.

    >>> [f"{error:.3g}" for error in distance("gelu", "float32", 0xC0D00000, 0x80000000)]
    ['2.61e-10', '1']
    """
    entry, fmt = get_function(function), get_format(dtype)
    if not (entry.has_value(fmt, x_bits) and fmt.is_finite(got_bits)):
        return None
    got = fmt.fraction(got_bits)
    for y, radius in _enclosures(entry, fmt, x_bits):
        difference = abs(got - y)
        if not got and difference + radius < _NOTHING:  # the relative error is 1, whatever y is
            break
        is_small = difference + radius < _NOTHING * min(abs(y), Fraction(1))
        if (radius <= difference * _ENOUGH or is_small) and radius <= abs(y) * _ENOUGH:
            break
    return _as_float(difference), 1.0 if y and not got else _as_float(difference, abs(y))


def _enclosures(entry: Function, fmt: Format, x_bits: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Middle and half the width of ever narrower enclosures of f(x)."""
    limit = entry.limit(fmt, x_bits)
    if limit is not None:
        yield from (_middle(*bounds_of("0" if limit in ("x", "-x") else limit, bits)) for bits in _PRECISIONS)
        return
    x = fmt.dyadic(x_bits)
    if entry.name in _NATIVE:
        hi, lo, err, k = _core.value(entry.name, math.ldexp(*x))
        if math.isfinite(err):
            scale = Fraction(2) ** max(-_REACH, min(k, _REACH))
            yield (Fraction(hi) + Fraction(lo)) * scale, Fraction(err) * scale
    for precision in _PRECISIONS:
        terms = entry.enclosed(Enclosure(precision), x)
        leading = fraction(terms.leading)
        if terms.correction is None:
            yield leading, Fraction(0)
            return
        low, high = (_within_reach(end) for end in endpoints(terms.correction))
        yield _middle(leading + low, leading + high)


def _middle(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    return (low + high) / 2, (high - low) / 2


def _within_reach(value: Dyadic) -> Fraction:
    """A number, or one of its sign that is as good as zero, or as infinite, in its stead."""
    m, e = value
    size = m.bit_length() + e
    if m and abs(size) > _REACH:
        m, e = (1 if m > 0 else -1), (_REACH if size > 0 else -_REACH)
    return fraction((m, e))


def _as_float(value: Fraction, unit: Fraction = Fraction(1)) -> float:
    """value / unit: the nearest float64; 0 / 0 is 0."""
    if not value:
        return 0.0
    try:
        return float(value / unit) if unit else math.inf
    except OverflowError:
        return math.inf
