"""Enclosures of many values of a function that has no native code, in the form that the native judge takes.

Arrays of double-doubles that carry their bounds decide nearly all (`carried`), in a microsecond each; what
they leave costs 0.05 ms.

A value is the middle of a proved enclosure with a bound on the rest (src/truth/value.h). What the bound does not
decide is asked of the oracle, as for native code: every result is the correctly rounded one, or an error.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..formats import Dyadic, Format, is_finite, is_zero, ordinals
from ..functions import Function
from ..functions.enclosures import MINUS_ZERO, ZERO, Enclosure, Terms, endpoints
from ..functions.limits import POLES
from . import _core, carried
from .carried import VALUE

Value = tuple[float, float, float, int]  # hi, lo, err, k
GUARD = 48  # bits of the first enclosure beyond the precision of the format
DOUBLINGS = 3
NARROWER = (1 << 9, 1 << 12)  # bits where the rounding is open: 3/5 x of tiny x is a number of the format, often
_BEYOND, _VANISHING, _HUGE = 1140, -1140, 2001  # powers of two: where every format overflows or is zero (value.h)
_APART = 400  # powers of two below a double from which on what lies beside it counts by its sign
_TINY = 199  # powers of two below a leading term from which on a correction counts by its sign


def values_of(function: Function, fmt: Format, x: np.ndarray) -> np.ndarray:
    """Records of VALUE for f(x) at input bits; err is infinite at zeros, infinities and NaN, hi is NaN outside of the
    domain. Each is narrow enough for its error in ulp, and for its rounding as far as 4,096 bits decide that.
    """
    values, left = _by_arrays(function, fmt, x)
    if left.size:
        values[left] = _one_by_one(function, fmt, x[left])
    return values


def _by_arrays(function: Function, fmt: Format, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is stated, and what double-doubles with their bounds decide; and where something is left to do."""
    values = carried.values_of(function, fmt, x)
    if values is None:
        values = np.zeros(x.size, VALUE)
        values["hi"], values["err"] = 1.0, math.inf
    first, last = function.ordinals(fmt)
    outside = is_finite(fmt, x) & ((ordinals(fmt, x) < first) | (ordinals(fmt, x) > last))
    values["hi"][outside], values["err"][outside] = math.nan, 0.0
    done = outside | ~is_finite(fmt, x) | is_zero(fmt, x)
    for bits, value in _stated(function, fmt):
        there = x == bits
        values[there], done[there] = value, True
    smallest = np.ldexp(1.0, np.clip(fmt.min_exponent - _enough(fmt) - values["k"], -1000, 1000))  # of u(y)
    wide = values["err"] > np.maximum(np.abs(values["hi"]) * 2.0 ** -(fmt.precision + _enough(fmt)), smallest)
    wide &= ~np.isin(values["k"], (_VANISHING, _HUGE))
    return values, np.flatnonzero((wide | _undecided(fmt, x, values)) & ~done)


def _one_by_one(function: Function, fmt: Format, x: np.ndarray) -> np.ndarray:
    """Each enclosed narrowly enough for its error in ulp, and those whose rounding that leaves open more narrowly."""
    values = np.zeros(x.size, VALUE)
    for i, bits in enumerate(x.tolist()):
        values[i] = (*_value_at(function, fmt, fmt.dyadic(bits)), 0)
    for precision in NARROWER:
        for i in np.flatnonzero(_undecided(fmt, x, values)).tolist():
            values[i] = (*value_of(function.enclosed(Enclosure(precision), fmt.dyadic(int(x[i])))), 0)
    return values


@lru_cache(1 << 10)
def _stated(function: Function, fmt: Format) -> list[tuple[int, tuple[float, float, float, int, int]]]:
    """Bits and records of the points where something is stated: a pole is infinite; what the oracle has to decide, as
    other results may be right, has no bound."""
    found = []
    for text in {*function.at, *function.also}:
        bits = fmt.round(Fraction(text))
        if not fmt.is_finite(bits) or fmt.fraction(bits) != Fraction(text) or fmt.magnitude(bits) == 0:
            continue
        limit = function.limit(fmt, bits)
        if limit in (*POLES, "nan"):
            found.append((bits, (float(str(limit)), 0.0, 0.0, 0, 0)))
        else:
            found.append((bits, (1.0, 0.0, math.inf, 0, 0)))
    return found


def _enough(fmt: Format) -> int:
    """Bits of a value beyond the precision, so that an error in ulp is known to 2^-38, and to 2^-30 in float64."""
    return 40 if fmt.precision <= 24 else 30


@lru_cache(maxsize=1 << 14)  # the checks ask for the same few inputs of every function, target by target
def _value_at(function: Function, fmt: Format, x: Dyadic) -> Value:
    """`value_of` an enclosure that is narrow enough, where a few doublings of the precision make it so."""
    for k in range(DOUBLINGS + 1):
        value = value_of(function.enclosed(Enclosure(fmt.precision + GUARD << k), x))
        hi, _, err, exponent = value
        if err <= abs(hi) * 2.0 ** -(fmt.precision + _enough(fmt)) or exponent in (_VANISHING, _HUGE):
            break
    return value


def _undecided(fmt: Format, x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where the value lies too close to a number, or to a midpoint, of the format."""
    limits, x = np.full(6, fmt.infinity, np.uint64), np.ascontiguousarray(x)
    want, error, flags = np.empty_like(x), np.empty(x.size), np.zeros(x.size, np.uint8)
    _core.judge(values.view(np.uint8), fmt.layout, limits, 0.0, x.view(np.uint8), x.view(np.uint8), want.view(np.uint8),
                error, flags)  # fmt: skip
    undecided: np.ndarray = flags & _core.DECIDED == 0
    return undecided


def value_of(terms: Terms) -> Value:
    """(hi, lo, err, k): |y 2^-k - (hi + lo)| < err, or err = 0 and it is exact; err infinite: undecided."""
    if terms.correction is None:
        return (-0.0, 0.0, 0.0, 0) if terms.leading == MINUS_ZERO else _between(terms.leading, terms.leading)
    ends = endpoints(terms.correction)
    size = abs(terms.leading[0]).bit_length() + terms.leading[1]
    if terms.leading == ZERO or all(abs(m).bit_length() + e > max(size, _BEYOND) + 2 for m, e in ends):
        return _between(*ends)  # nothing to add, or nothing that brings the sum back from beyond every format
    far_below = size - _TINY - 2
    if all(m == 0 or abs(m).bit_length() + e < far_below for m, e in ends):
        hi, lo, err, k = _between(terms.leading, terms.leading)
        if k in (_VANISHING, _HUGE):
            return hi, lo, err, k
        if lo and not err:  # a leading term of up to 106 bits: the correction is in the bound
            return hi, lo, abs(hi) * 2.0**-200, k
        if err or not (side := _side(*ends)):
            return 1.0, 0.0, math.inf, 0
        tiny = abs(hi) * 2.0**-200
        return hi, side * tiny, tiny, k
    return _between(*(_sum(terms.leading, end) for end in ends))


def _side(low: Dyadic, high: Dyadic) -> int:
    """The sign of what lies between them; a zero end is an open end. 0: undecided."""
    return (low[0] >= 0 and high[0] > 0) - (high[0] <= 0 and low[0] < 0)


def _sum(a: Dyadic, b: Dyadic) -> Dyadic:
    e = min(a[1], b[1])
    return (a[0] << (a[1] - e)) + (b[0] << (b[1] - e)), e


def _between(low: Dyadic, high: Dyadic) -> Value:
    """The middle of [low, high] as hi + lo, and a strict bound of the distance to any number in it."""
    (a, e), (b, f) = low, high
    if a == b == 0:
        return 0.0, 0.0, 0.0, 0
    if a * b <= 0:  # an end that is zero is an open end: far below all formats the sign decides
        side = _side(low, high)
        if side and max(abs(a).bit_length() + e, abs(b).bit_length() + f) < -_BEYOND:
            return side / 2, 0.0, 0.5, _VANISHING
        return 1.0, 0.0, math.inf, 0
    k, sign = max(abs(a).bit_length() + e, abs(b).bit_length() + f), 1.0 if a > 0 else -1.0
    if k > _BEYOND:
        return sign, 0.0, 0.5, _HUGE
    if k < -_BEYOND:
        return sign / 2, 0.0, 0.5, _VANISHING
    unit = min(e, f)
    a, b = a << (e - unit), b << (f - unit)
    middle, unit = a + b, unit - 1
    hi, left = _leading(middle, 53)
    below, above = (2 * end - (middle - left) for end in (a, b))
    if max(abs(below), abs(above)) < abs(middle) >> _APART:  # so near to a double that what is beside it may underflow
        head = math.ldexp(float(hi[0]), hi[1] + unit - k)
        tiny = abs(head) * 2.0**-200 if below or above else 0.0
        return head, tiny * ((below > 0) - (above < 0)), tiny, k
    lo, left = _leading(left, 53)
    rest, _ = _leading(abs(left) + abs(b - a), 50, up=True)
    parts = (math.ldexp(float(m), shift + unit - k) for m, shift in (hi, lo, rest))
    return *parts, k  # type: ignore[return-value]


def _leading(value: int, bits: int, up: bool = False) -> tuple[tuple[int, int], int]:
    """((m, shift), rest): value = m 2^shift + rest, m of so many bits: the nearest, or one above `value`."""
    shift = max(value.bit_length() - bits, 0)
    m = (value >> shift) + 1 if up and value else (value + (1 << shift >> 1)) >> shift
    return (m, shift), value - (m << shift)
