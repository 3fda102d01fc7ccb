"""Reference answers as bytes: what the routes and the quick door both send."""

from __future__ import annotations

import json

from ..fenv import in_default_environment
from ..truth.lookup import answer, answer_in_dtypes

MEDIA_TYPE = "application/json"
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@in_default_environment
def encoded(content: object) -> bytes:
    """Compact JSON, ASCII, without NaN or infinity."""
    return _COMPACT.encode(content).encode()


@in_default_environment
def look_up(function: str, dtype: str, x_bits: int, digits: int) -> bytes:
    """One answer (docs/http.md)."""
    return encoded(answer(function, dtype, x_bits, digits))


def look_up_with_others(
    function: str, dtype: str, x_bits: int, digits: int, text: str, others: tuple[str, ...]
) -> bytes:
    """One answer, with `also`: the answers of other dtypes to the same number."""
    found = answer(function, dtype, x_bits, digits)
    return encoded({**found, "also": answer_in_dtypes(function, others, text, dtype, digits)})
