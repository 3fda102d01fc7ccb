"""JSON and arrays as compressed bytes, in which work crosses processes and stays in files: reading executes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

_SIZE = 8  # bytes that say how long the JSON is, and how much there is in all


def compressed(fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The bytes that `uncompressed` reads."""
    import pyarrow as pa

    shapes = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    head = json.dumps([fields, shapes], default=_plain).encode()
    whole = b"".join([len(head).to_bytes(_SIZE, "little"), head, *(array.tobytes() for array in arrays.values())])
    return len(whole).to_bytes(_SIZE, "little") + bytes(pa.compress(whole, codec="zstd", asbytes=True))


def uncompressed(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Fields and arrays."""
    import pyarrow as pa

    size = int.from_bytes(content[:_SIZE], "little")
    whole = pa.decompress(content[_SIZE:], decompressed_size=size, codec="zstd", asbytes=True)
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
