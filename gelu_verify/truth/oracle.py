"""Arbitrary precision with proof of rounding: the slow truth that never guesses.

A value is enclosed at precision p; the rounding is accepted when both ends of the enclosure round
alike, else p doubles (Ziv's strategy). It decides or raises: no fixed precision, no float library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ..errors import OracleError
from ..formats import Dyadic, Format, Mode
from ..functions import Function
from ..functions.enclosures import ZERO, Enclosure, Terms, endpoints, fraction

PRECISIONS = tuple(2**k for k in range(6, 18))
"""Bits tried in turn, from 64 to 131,072; beyond, OracleError."""
_SPARE = 32  # bits beyond those asked for, of which an enclosure loses some
KEPT = 1 << 14  # inputs whose values are remembered
DEEPEST = 1 << 22
"""Values outside 2^+-DEEPEST are rounded, but not written out as exact numbers."""


def round_exactly(function: Function, fmt: Format, x_bits: int, mode: Mode = "nearest") -> int:
    """Bits of f(x) rounded once to `fmt`, proved; zeros, infinities and NaN, and what is outside of the domain, by the
    limit rule.

    Raises OracleError when no precision decides, which no input of these functions should reach.
    """
    if function.is_stated(fmt, x_bits):
        return function.limit_bits(fmt, x_bits, mode)
    x = fmt.dyadic(x_bits)
    for precision in PRECISIONS:
        terms = _terms(function, precision, x)
        if terms.correction is None:
            return fmt.round(terms.leading, mode)
        low, high = (fmt.round(_sum(terms.leading, end, fmt.min_exponent - 1), mode) for end in _ends(terms))
        if low == high:
            return low
    raise OracleError(
        f"{function.name} at {fmt.hex_float(x_bits)} ({fmt.name}): rounding undecided at {precision} bits"
    )


def enclose(function: Function, x: Dyadic, bits: int) -> tuple[Fraction, Fraction]:
    """Exact rational bounds of f(x) at a non-zero dyadic x, narrower than 2^-bits relative to f(x).

    Raises OracleError where f is not defined, and where f(x) is too large or small to be written out.
    """
    if not function.is_defined_at(x):
        raise OracleError(f"{function.name} is not defined at {x[0]} * 2^{x[1]}")
    first = bits + _SPARE
    for precision in (first, *(each for each in PRECISIONS if each > first)):
        terms = function.terms(Enclosure(precision), x)
        if terms.correction is None:
            value = fraction(terms.leading)
            return value, value
        grid = -DEEPEST if terms.leading == ZERO else abs(terms.leading[0]).bit_length() + terms.leading[1] - bits - 64
        ends = [_sum(terms.leading, end, grid) for end in _ends(terms)]
        if max(abs(m).bit_length() + abs(e) for m, e in ends) > DEEPEST:
            raise OracleError(f"{function.name} at {x[0]} * 2^{x[1]} lies beyond 2^+-{DEEPEST}")
        low, high = map(fraction, ends)
        if (high - low) * 2**bits <= min(abs(low), abs(high)) and low * high > 0:
            return low, high
    raise OracleError(f"{function.name} at {x[0]} * 2^{x[1]}: no enclosure of {bits} bits")


@lru_cache(64)
def _terms(function: Function, precision: int, x: Dyadic) -> Terms:
    """Of the inputs that were asked for last: one is rounded in several directions, and its error is found."""
    return function.terms(Enclosure(precision), x)


def _ends(terms: Terms) -> tuple[Dyadic, Dyadic]:
    """Ends of the correction; one that is zero is an open end, since no correction here is ever zero."""
    low, high = endpoints(terms.correction)
    return (low if low[0] else (1, -(1 << 60))), (high if high[0] else (-1, -(1 << 60)))


def _sum(leading: Dyadic, correction: Dyadic, grid: int) -> Dyadic:
    """leading + correction; a correction below 2^(grid - 2) counts by its sign alone.

    Values and midpoints of a format are multiples of 2^(min_exponent - 1): with that grid, or a finer one of which the
    leading term is a multiple too, the sum rounds as the exact one does.
    """
    m, e = correction
    grid = min(grid, leading[1]) if leading[0] else grid
    if m.bit_length() + e < grid - 2:
        m, e = (1 if m > 0 else -1), grid - 2
    if m.bit_length() + e > 1 << 16:  # far above every format and leading term: an overflow
        return (1 if m > 0 else -1), 1 << 16
    if leading == ZERO:
        return m, e
    exponent = min(e, leading[1])
    return (m << (e - exponent)) + (leading[0] << (leading[1] - exponent)), exponent


def judge_exactly(function: Function, fmt: Format, x_bits: int, got_bits: int) -> tuple[int, float, bool]:
    """Correctly rounded bits, error of `got_bits` in units of u(y), and whether it is faithful.

    The error is (got - y)/u(y), the nearest float to it; inf for a finite x whose output is inf or
    NaN without cause, or a number where NaN or a pole is due; NaN where x itself is not finite, or outside of the
    domain and the output NaN. A y that overflows counts as 2^(emax+1), in
    units of the last binade. Faithful: no number of the format lies
    between the output and the exact value. Raises OracleError as `round_exactly` does.
    """
    want = _rounded(function, fmt, x_bits, "nearest")
    if not (fmt.is_finite(x_bits) and function.is_defined(fmt, x_bits)):
        same = fmt.is_nan(got_bits) if fmt.is_nan(want) else got_bits == want
        return want, float("nan" if same or not fmt.is_finite(x_bits) else "inf"), same
    if function.has_pole_at_zero and fmt.magnitude(x_bits) == 0:
        return want, 0.0 if got_bits == want else float("inf"), got_bits == want
    if not fmt.is_finite(got_bits):
        overflow = got_bits == want
        return want, 0.0 if overflow else float("inf"), overflow
    got = fmt.fraction(got_bits)
    value, unit = _close(function, fmt, x_bits)
    down, up = (_rounded(function, fmt, x_bits, mode) for mode in ("down", "up"))
    faithful = got in {fmt.fraction(b) for b in (down, up) if fmt.is_finite(b)}
    return want, _ratio(got - value, unit), faithful


_rounded = lru_cache(KEPT)(round_exactly)  # many targets are judged at the same inputs


@lru_cache(KEPT)
def _close(function: Function, fmt: Format, x_bits: int) -> tuple[Fraction, Fraction]:
    """f(x) within 2^-65 of its ulp, capped at +-2^(emax+1), and that ulp."""
    for low, high in _bounds(function, fmt, x_bits):
        if low == high == 0 or (low * high > 0 and fmt.ulp(low) == fmt.ulp(high)):
            unit = min(fmt.ulp(low), Fraction(2) ** (fmt.emax - fmt.precision + 1))
            if low == high or (high - low) * 2**64 <= unit:
                break
    return (low + high) / 2, unit


def _bounds(function: Function, fmt: Format, x_bits: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Ever narrower rational bounds of f(x), capped at +-2^(emax+1).

    Corrections far below the grid of `fmt` stand for their sign.
    """
    cap = Fraction(2) ** (fmt.emax + 1)
    for precision in PRECISIONS:
        if fmt.magnitude(x_bits) == 0:
            yield function.bounds_at_zero(precision)
            continue
        terms = _terms(function, precision, fmt.dyadic(x_bits))
        if terms.correction is None:
            low = high = fraction(terms.leading)
        else:
            low, high = (fraction(_sum(terms.leading, end, fmt.min_exponent - 200)) for end in _ends(terms))
        yield max(-cap, min(low, cap)), max(-cap, min(high, cap))
    raise OracleError(f"{function.name} at {fmt.hex_float(x_bits)} ({fmt.name}): error undecided at {precision} bits")


def _ratio(difference: Fraction, unit: Fraction) -> float:
    """difference / unit as the nearest float, the largest one where it would overflow."""
    try:
        return float(difference / unit)
    except OverflowError:
        return sys.float_info.max if difference > 0 else -sys.float_info.max
