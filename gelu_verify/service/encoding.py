"""Reference values as JSON bytes, for the route, the fast path and the processes of the oracle."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..fenv import in_default_environment
from ..formats import FORMATS
from ..truth.lookup import answer, answer_in_dtypes, converted, is_quick

JSON_TYPE = "application/json"
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@in_default_environment
def json_bytes(content: object) -> bytes:
    """Compact ASCII JSON; NaN and infinity are refused."""
    return _COMPACT.encode(content).encode()


@in_default_environment
def look_up(function: str, dtype: str, x_bits: int, digits: int, text: str = "", others: Sequence[str] = ()) -> bytes:
    """The reference value of one input; with `others` also those of the same number in other dtypes (docs/http.md)."""
    found = answer(function, dtype, x_bits, digits)
    if others:
        found["also"] = answer_in_dtypes(function, others, text, dtype, digits)
    return json_bytes(found)


@in_default_environment
def all_quick(function: str, dtype: str, x_bits: int, digits: int, text: str = "", others: Sequence[str] = ()) -> bool:
    """Whether the native core decides all of it, so that it takes a fraction of a millisecond."""
    fmt = FORMATS[dtype]
    numbers = [(name, converted(FORMATS[name], fmt, x_bits, text)) for name in others]
    return all(is_quick(function, name, bits, digits) for name, bits in [(dtype, x_bits), *numbers])
