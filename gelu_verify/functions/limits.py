"""Values of a function at zero and at the infinities: words, exact decimals, or enclosures of irrational numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..errors import OracleError, message_of
from ..formats import Dyadic, Format, Mode
from .enclosures import ZERO, Enclosure, Interval, Terms, as_interval, ends_of, exactly, fraction, narrowed, rounded

Limit = str | Callable[[Enclosure], Interval | Terms]
"""A word, an exact decimal, or what encloses the number: an interval, or Terms where it lies beside one, as 1 - e^-900
does."""
_WORDS = ("0", "-0", "inf", "-inf", "nan")
POLES = ("inf", "-inf")
_PRECISIONS = tuple(2**k for k in range(6, 18))
DEEPEST = 1 << 22
"""Values outside 2^+-DEEPEST are rounded, but not written out as exact fractions."""


def check_limit(limit: Limit, at_zero: bool) -> str | None:
    """What would be accepted instead; None where `limit` is."""
    words = ("x", "-x", *_WORDS) if at_zero else _WORDS
    accepted = ", ".join(f'"{word}"' for word in words)
    accepted += ", an exact decimal as a string, or a function of an Enclosure"
    if callable(limit):
        return None
    if limit in words:
        return None
    try:
        Fraction(limit)
    except (ValueError, TypeError, ZeroDivisionError):
        return accepted
    return None


def bits_of(limit: Limit, fmt: Format, mode: Mode = "nearest") -> int:
    """`limit` rounded once to `fmt`."""
    if isinstance(limit, str):
        return fmt.parse(limit) if limit in _WORDS else fmt.round(Fraction(limit), mode)
    for precision in _PRECISIONS:
        bits = rounded(terms_of(limit, precision), fmt, mode)
        if bits is not None:
            return bits
    raise OracleError(f"the rounding of a limit is undecided in {fmt.name}")


def ends_of_limit(limit: Limit, bits: int) -> tuple[Dyadic, Dyadic]:
    """Exact ends of an enclosure of a finite limit, narrower than 2^-bits relative to it."""
    ends = narrowed((terms_of(limit, precision) for precision in _PRECISIONS if precision > bits), bits)
    if ends is None:
        raise OracleError(f"no enclosure of {bits} bits of a limit")
    return ends


def bounds_of(limit: Limit, bits: int) -> tuple[Fraction, Fraction]:
    """Exact bounds of a finite limit, narrower than 2^-bits relative to it; equal where it is a decimal.

    A limit below 2^-DEEPEST counts as one of its sign there: it is far below every format.
    """
    if isinstance(limit, str):
        return Fraction(limit), Fraction(limit)
    first = terms_of(limit, _PRECISIONS[0])
    if first.leading == ZERO and first.correction is not None:
        low, high = map(clamped, ends_of(first))
        if low == high:
            return fraction(low), fraction(high)
    low, high = map(clamped, ends_of_limit(limit, bits))
    return fraction(low), fraction(high)


def clamped(value: Dyadic) -> Dyadic:
    """The same, or one of its sign that is as far as numbers are written out."""
    m, e = value
    return value if abs(m.bit_length() + e) < DEEPEST else ((1 if m > 0 else -1), -DEEPEST if e < 0 else DEEPEST)


def terms_of(limit: Limit, precision: int) -> Terms:
    """What a finite limit says at a precision."""
    c = Enclosure(precision)
    try:
        found = limit(c) if callable(limit) else exactly(c, Fraction(limit))
    except Exception as error:  # the limit may be anybody's function
        raise OracleError(f"a limit raised {type(error).__name__}: {message_of(error)}") from error
    return as_interval(c, found if isinstance(found, Terms) else Terms(ZERO, found))
