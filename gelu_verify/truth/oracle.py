"""Arbitrary precision with proof of rounding: the slow truth that never guesses.

A value is enclosed at precision p; the rounding is accepted when both ends of the enclosure round
alike, else p doubles (Ziv's strategy). It decides or raises: no fixed precision, no float library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache, partial

from ..errors import OracleError
from ..formats import Dyadic, Format, Mode
from ..functions import Function
from ..functions.enclosures import Enclosure, Terms, ends_of, fraction, narrowed, rounded, shown, total
from ..functions.limits import DEEPEST, Limit, bits_of, bounds_of

PRECISIONS = tuple(2**k for k in range(6, 18))
"""Bits tried in turn, from 64 to 131,072; beyond, OracleError."""
_AROUND: tuple[Mode, ...] = ("down", "up")
_SPARE = 32  # bits beyond those asked for, of which an enclosure loses some
KEPT = 1 << 14  # inputs whose values are remembered


def round_exactly(function: Function, fmt: Format, x_bits: int, mode: Mode = "nearest") -> int:
    """Bits of f(x) rounded once to `fmt`, proved; zeros, infinities and NaN, and what is outside of the domain, by the
    limit rule.

    Raises OracleError when no precision decides, which no input of these functions should reach.
    """
    if function.is_stated(fmt, x_bits):
        return function.limit_bits(fmt, x_bits, mode)
    x = fmt.dyadic(x_bits)
    for precision in PRECISIONS:
        bits = rounded(_terms(function, precision, x), fmt, mode)
        if bits is not None:
            return bits
    raise OracleError(
        f"{function.name} at {fmt.hex_float(x_bits)} ({fmt.name}): rounding undecided at {precision} bits"
    )


def enclose(function: Function, x: Dyadic, bits: int) -> tuple[Fraction, Fraction]:
    """Exact rational bounds of f(x) at a non-zero dyadic x, narrower than 2^-bits relative to f(x).

    Raises OracleError where f is not defined, and where f(x) is too large or small to be written out.
    """
    ends = enclosed_ends(function, x, bits)
    if max(m.bit_length() + abs(e) for m, e in ends) > DEEPEST:
        raise OracleError(f"{function.name} at {shown(x)} lies beyond 2^+-{DEEPEST}")
    low, high = map(fraction, ends)
    return low, high


def enclosed_ends(function: Function, x: Dyadic, bits: int) -> tuple[Dyadic, Dyadic]:
    """The same bounds as dyadic numbers, of any size."""
    if not function.is_defined_at(x):
        raise OracleError(f"{function.name} is not defined at {shown(x)}")
    first = bits + _SPARE
    precisions = (first, *(each for each in PRECISIONS if each > first))
    ends = narrowed((function.enclosed(Enclosure(precision), x) for precision in precisions), bits)
    if ends is None:
        raise OracleError(f"{function.name} at {shown(x)}: no enclosure of {bits} bits, or it lies beyond 2^+-(2^62)")
    return ends


@lru_cache(64)
def _terms(function: Function, precision: int, x: Dyadic) -> Terms:
    """Of the inputs that were asked for last: one is rounded in several directions, and its error is found."""
    return function.enclosed(Enclosure(precision), x)


def judge_exactly(function: Function, fmt: Format, x_bits: int, got_bits: int) -> tuple[int, float, bool]:
    """Correctly rounded bits, error of `got_bits` in units of u(y), and whether it is faithful.

    The error is (got - y)/u(y), the nearest float to it; inf for a finite x whose output is inf or
    NaN without cause, or a number where NaN or a pole is due; NaN where x itself is not finite, or outside of the
    domain and the output NaN. A y that overflows counts as 2^(emax+1), in units of the last binade, and so does an
    infinity beside a y beyond the largest number. Faithful: no number of the format lies between the output and the
    exact value. Where another result is as right (`Function.also`), all is said of the one that the output is nearest
    to. Raises OracleError as `round_exactly` does.
    """
    want = _rounded(function, fmt, x_bits, "nearest")
    if not function.has_value(fmt, x_bits):
        same = fmt.is_nan(got_bits) if fmt.is_nan(want) else got_bits == want
        is_pole = fmt.is_finite(x_bits) and not fmt.is_nan(want)
        return want, 0.0 if is_pole and same else float("nan" if same or not fmt.is_finite(x_bits) else "inf"), same
    due = [(partial(_rounded, function, fmt, x_bits), partial(_close, function, fmt, x_bits))]
    for limit in function.others_at(fmt, x_bits):
        due.append((partial(bits_of, limit, fmt), partial(_close_to_limit, limit, fmt)))
    found = [_against(fmt, got_bits, rounded, close) for rounded, close in due]
    return min(found, key=lambda each: abs(each[1]))


def _against(
    fmt: Format, got_bits: int, rounded: Callable[[Mode], int], close: Callable[[], tuple[Fraction, Fraction]]
) -> tuple[int, float, bool]:
    """The same against one number, of which roundings, and value and ulp are had."""
    want = rounded("nearest")
    if got_bits == want and not fmt.is_finite(want):
        return want, 0.0, True
    around = {fmt.fraction(b) if fmt.is_finite(b) else _beyond(fmt, b) for b in map(rounded, _AROUND)}
    if fmt.is_nan(got_bits) or (fmt.magnitude(got_bits) == fmt.infinity and _beyond(fmt, got_bits) not in around):
        return want, float("inf"), False
    got = fmt.fraction(got_bits) if fmt.is_finite(got_bits) else _beyond(fmt, got_bits)
    value, unit = close()
    return want, _ratio(got - value, unit), got in around


def _beyond(fmt: Format, infinity: int) -> Fraction:
    """What an infinity counts as."""
    return (-1 if fmt.is_negative(infinity) else 1) * Fraction(2) ** (fmt.emax + 1)


_rounded = lru_cache(KEPT)(round_exactly)  # many targets are judged at the same inputs


@lru_cache(KEPT)
def _close(function: Function, fmt: Format, x_bits: int) -> tuple[Fraction, Fraction]:
    """f(x) within 2^-65 of its ulp, capped at +-2^(emax+1), and that ulp."""
    limit = function.limit(fmt, x_bits)
    if limit is not None:
        return _close_to_limit(limit, fmt)
    found = _closest(_bounds(function, fmt, x_bits), fmt)
    if found is None:
        raise OracleError(f"{function.name} at {fmt.hex_float(x_bits)} ({fmt.name}): error undecided")
    return found


def _close_to_limit(limit: Limit, fmt: Format) -> tuple[Fraction, Fraction]:
    """The same of a limit."""
    found = _closest((bounds_of("0" if limit in ("x", "-x") else limit, precision) for precision in PRECISIONS), fmt)
    if found is None:
        raise OracleError(f"a limit in {fmt.name}: error undecided")
    return found


def _closest(bounds: Iterable[tuple[Fraction, Fraction]], fmt: Format) -> tuple[Fraction, Fraction] | None:
    """The middle of the first bounds that are narrow enough, capped, and its ulp."""
    cap = Fraction(2) ** (fmt.emax + 1)
    for ends in bounds:
        low, high = (max(-cap, min(end, cap)) for end in ends)
        if low == high == 0 or (low * high > 0 and fmt.ulp(low) == fmt.ulp(high)):
            unit = min(fmt.ulp(low), Fraction(2) ** (fmt.emax - fmt.precision + 1))
            if low == high or (high - low) * 2**64 <= unit:
                return (low + high) / 2, unit
    return None


def _bounds(function: Function, fmt: Format, x_bits: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Ever narrower rational bounds of f(x); corrections far below the grid of `fmt` stand for their sign."""
    for precision in PRECISIONS:
        terms = _terms(function, precision, fmt.dyadic(x_bits))
        if terms.correction is None:
            low = high = fraction(terms.leading)
        else:
            low, high = (fraction(total(terms.leading, end, fmt.min_exponent - 200)) for end in ends_of(terms))
        yield low, high


def _ratio(difference: Fraction, unit: Fraction) -> float:
    """difference / unit as the nearest float, the largest one where it would overflow."""
    try:
        return float(difference / unit)
    except OverflowError:
        return sys.float_info.max if difference > 0 else -sys.float_info.max
