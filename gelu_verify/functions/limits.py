"""Values of a function at zero and at the infinities: words, exact decimals, or enclosures of irrational numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from ..errors import OracleError
from ..formats import Dyadic, Format, Mode
from .enclosures import Enclosure, Interval, endpoints, fraction

Limit = str | Callable[[Enclosure], Interval]
_WORDS = ("0", "-0", "inf", "-inf", "nan")
POLES = ("inf", "-inf")
_PRECISIONS = tuple(2**k for k in range(6, 18))


def check_limit(limit: Limit, at_zero: bool) -> str | None:
    """What would be accepted instead; None where `limit` is."""
    words = ("x", "-x", *_WORDS[:-1]) if at_zero else _WORDS
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
    for low, high in _ends(limit):
        if (down := fmt.round(low, mode)) == fmt.round(high, mode):
            return down
    raise OracleError(f"the rounding of a limit is undecided in {fmt.name}")


def bounds_of(limit: Limit, bits: int) -> tuple[Fraction, Fraction]:
    """Exact bounds of a finite limit, narrower than 2^-bits relative to it; equal where it is a decimal."""
    if isinstance(limit, str):
        return Fraction(limit), Fraction(limit)
    for ends in _ends(limit):
        low, high = map(fraction, ends)
        if low * high > 0 and (high - low) * 2**bits <= min(abs(low), abs(high)):
            return low, high
    raise OracleError(f"no enclosure of {bits} bits of a limit")


def _ends(limit: Callable[[Enclosure], Interval]) -> Iterator[tuple[Dyadic, Dyadic]]:
    """Ends of ever narrower enclosures."""
    for precision in _PRECISIONS:
        yield endpoints(limit(Enclosure(precision)))
