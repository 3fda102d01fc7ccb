"""Reference values as JSON bytes, for the route and for the fast path."""

from __future__ import annotations

import json

from ..fenv import in_default_environment
from ..truth.lookup import answer, answer_in_dtypes

JSON_TYPE = "application/json"
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@in_default_environment
def json_bytes(content: object) -> bytes:
    """Compact ASCII JSON; NaN and infinity are refused."""
    return _COMPACT.encode(content).encode()


@in_default_environment
def lookup_json(function: str, dtype: str, x_bits: int, digits: int) -> bytes:
    """The reference value of one input (docs/http.md)."""
    return json_bytes(answer(function, dtype, x_bits, digits))


def lookup_json_in_dtypes(
    function: str, dtype: str, x_bits: int, digits: int, text: str, others: tuple[str, ...]
) -> bytes:
    """The same, with `also`: the reference values of the same number in other dtypes."""
    found = answer(function, dtype, x_bits, digits)
    return json_bytes({**found, "also": answer_in_dtypes(function, others, text, dtype, digits)})
