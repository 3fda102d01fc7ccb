"""Reference values as JSON bytes, for the route, the fast path and the processes of the oracle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from ..formats import FORMATS
from ..truth.lookup import answer, converted, is_quick

JSON_TYPE = "application/json"
_KEPT_DIGITS = 40
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def json_bytes(content: object) -> bytes:
    """Compact ASCII JSON; NaN and infinity are refused."""
    return _COMPACT.encode(content).encode()


def look_up(
    function: str, dtype: str, x_bits: int, digits: int, text: str = "", others: Sequence[str] = (),
    rounding: str = "nearest",
) -> bytes:  # fmt: skip
    """The reference value of one input; with `others` also those of the same number in other dtypes (docs/http.md)."""
    found = _answer(function, dtype, x_bits, digits, rounding)
    if not others:
        return found
    fmt = FORMATS[dtype]
    also = ((name, converted(FORMATS[name], fmt, x_bits, text)) for name in others)
    parts = (b'"%s":%s' % (name.encode(), _answer(function, name, bits, digits, rounding)) for name, bits in also)
    return b'%s,"also":{%s}}' % (found[:-1], b",".join(parts))


def _answer(function: str, dtype: str, x_bits: int, digits: int, rounding: str) -> bytes:
    kept = FORMATS[dtype].width == 8 and digits <= _KEPT_DIGITS
    return (_of_8_bits if kept else _computed)(function, dtype, x_bits, digits, rounding)


def _computed(function: str, dtype: str, x_bits: int, digits: int, rounding: str) -> bytes:
    return json_bytes(answer(function, dtype, x_bits, digits, rounding))


_of_8_bits = lru_cache(maxsize=1 << 14)(_computed)  # 256 numbers for each function, which take longer than wider ones


def all_quick(
    function: str, dtype: str, x_bits: int, digits: int, text: str = "", others: Sequence[str] = (),
    rounding: str = "nearest",
) -> bool:  # fmt: skip
    """Whether the native core decides all of it, so that it takes a fraction of a millisecond."""
    fmt = FORMATS[dtype]
    numbers = [(name, converted(FORMATS[name], fmt, x_bits, text)) for name in others]
    return all(is_quick(function, name, bits, digits) for name, bits in [(dtype, x_bits), *numbers])
