"""Numbers given as text or arguments: plain decimals in a range, or an error that names the argument."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

from .errors import UsageError

MOST_WORKERS = 1024
LARGEST_SEED = (1 << 63) - 1  # what a database and a Parquet file hold
LONGEST_S = 1e6  # seconds of a time limit: eleven days
_WHOLE = re.compile(r"[+-]?[0-9]+")
# A longer exponent, as an exact number, would fill the memory.
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([KMGTkmgt]?)(?:[iI]?[bB])?")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SHOWN = 40  # characters of what was typed


def whole(name: str, value: Any, low: int, high: int) -> int:
    """`value` where it is an integer from `low` to `high`."""
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = None
    if found is None or not low <= found <= high:
        raise _refused(name, value, _wrong(found, low, high) or "is not an integer", whole_range(low, high))
    return found


def real(name: str, value: Any, low: float, high: float, *, above: bool = False) -> float:
    """`value` where it is a finite number from `low` to `high`; `above`: not `low` itself."""
    try:
        found = math.nan if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise _refused(name, value, "is not a finite number", real_range(low, high, above))
    if not low <= found <= high or (above and found == low):
        raise _refused(name, value, "is out of range", real_range(low, high, above))
    return found


def parse_whole(name: str, text: str, low: int, high: int) -> int:
    """The integer that `text` says in ASCII digits."""
    if not _WHOLE.fullmatch(text):
        raise _refused(name, text, "is not a whole number in decimal digits", whole_range(low, high))
    if len(text) > _SHOWN:
        raise _refused(name, text, "is out of range", whole_range(low, high))
    found = int(text)
    if wrong := _wrong(found, low, high):
        raise _refused(name, text, wrong, whole_range(low, high))
    return found


def parse_real(name: str, text: str, low: float, high: float, *, above: bool = False) -> float:
    """The finite number of a plain decimal, with or without an exponent."""
    if not _REAL.fullmatch(text):
        raise _refused(name, text, "is not a finite decimal number", real_range(low, high, above))
    try:
        return real(name, float(text), low, high, above=above)
    except UsageError:
        raise _refused(name, text, "is out of range", real_range(low, high, above)) from None


def byte_count(name: str, text: str) -> int:
    """65536, 512M, 1.5GiB as a number of bytes."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"{name}: {text[:40]!r} is not a size (accepted: 65536, 512M, 8GiB)")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def whole_range(low: int, high: int) -> str:
    return f"whole numbers from {low} to {high}"


def real_range(low: float, high: float, above: bool = False) -> str:
    to = "" if high == math.inf else f" to {high:g}"
    return f"decimal numbers {'above' if above else 'from'} {low:g}{to}"


def _wrong(value: int | None, low: int, high: int) -> str:
    if value is None:
        return ""
    return f"is below {low}" if value < low else f"is above {high}" if value > high else ""


def _refused(name: str, value: Any, wrong: str, accepted: str) -> UsageError:
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return UsageError(f"{name} {shown} {wrong} (accepted: {accepted})")
