"""Many short calls with one x, made one after the other where the target lives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..formats import get_format
from .counting import matches
from .target import MapTarget, seed


def masks(
    target: MapTarget, dtype: str, rate: float, lots: Sequence[tuple[int, Sequence[int]]], x: int, kept: int,
    dropped: int, slack: int,
) -> dict[str, Any]:  # fmt: skip
    """Which elements are kept, of calls of these lengths after each of these seeds.

    x, kept, dropped : bits of the input, and of the outputs
    Returns `kept`: hex digits, a bit for each element, calls joined; `strange`: how many outputs are neither, and one.
    """
    fmt = get_format(dtype)
    found, strange, example = [], 0, 0
    target.state.looks_twice = False  # which takes longer than a call; other phases do
    for number, lengths in lots:
        seed(target, dtype, number, rate)
        for n in lengths:
            y, _ = target.timed(dtype, np.full(n, x, fmt.uint))
            is_kept = matches(y, np.full(n, kept, fmt.uint), slack)
            neither = ~is_kept & (y != fmt.uint.type(dropped)) & (y != fmt.uint.type(dropped ^ fmt.sign_mask))
            if neither.any():
                strange, example = strange + int(neither.sum()), int(y[np.argmax(neither)])
            found.append(is_kept)
    target.state.looks_twice = True
    return {"kept": np.packbits(np.concatenate(found)).tobytes().hex(), "strange": [strange, example]}
