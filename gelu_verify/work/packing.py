"""JSON and arrays as compressed bytes, in which work crosses processes and stays in files: reading executes nothing."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

_SIZE = 8  # bytes that say how long the JSON is


def compressed(fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes that `uncompressed` reads."""
    shapes = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    head = json.dumps([fields, shapes], default=_plain).encode()
    whole = b"".join([len(head).to_bytes(_SIZE, "little"), head, *(array.tobytes() for array in arrays.values())])
    return zlib.compress(whole, level=1)


def uncompressed(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Fields and arrays."""
    whole = zlib.decompress(content)
    start = _SIZE + int.from_bytes(whole[:_SIZE], "little")
    fields, shapes = json.loads(whole[_SIZE:start])
    arrays = {}
    for name, kind, shape in shapes:
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(whole, kind, count, start).reshape(shape).copy()
        start += arrays[name].nbytes
    return fields, arrays


def _plain(value: Any) -> Any:
    """A number of NumPy as JSON has it."""
    return value.item()
