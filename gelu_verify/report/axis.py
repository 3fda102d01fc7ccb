"""Texts along the x axis, which runs in the order of the floats: values at the edges of bins, and ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..buckets.bins import Layout
from ..formats import get_format
from .text import MINUS, short_value

_TICKS = (-4, -2, 0, 1, 2, 3, 4, 6)  # exponents of two


def edge_values(layout: Layout) -> list[str]:
    """x at every edge, to 6 digits."""
    fmt = get_format(layout.dtype)
    shift = fmt.width - 16
    offsets = [int(edge) - 0x8000 for edge in layout.edges]
    magnitudes = [abs(o) << shift if shift >= 0 else abs(o) >> -shift for o in offsets]
    bits = [m | (fmt.sign_mask if o < 0 else 0) for m, o in zip(magnitudes, offsets, strict=True)]
    return [short_value(layout.dtype, fmt.bits_text(b)) for b in bits]


def ticks(layout: Layout) -> list[tuple[int, str]]:
    """(bin edge, label) at powers of two, and at zero."""
    positive = [(layout.position(e), f"{2.0**e:g}") for e in _TICKS]
    zero = int(np.searchsorted(layout.edges, 0x8000))
    mirrored = [(2 * zero - at, MINUS + label) for at, label in positive]
    return sorted([*mirrored, (zero, "0"), *positive])


def strip_ticks(layout: Layout) -> list[tuple[float, str]]:
    """(per cent of the length, label) of the few places that a narrow strip has room for."""
    zero = layout.size / 2
    positive = [(layout.position(e) - zero, f"{2.0**e:g}") for e in (0, 3)]
    marks = [(-at, MINUS + label) for at, label in reversed(positive)] + [(0.0, "0")] + positive
    return [(round(100 * (zero + at) / layout.size, 1), label) for at, label in marks]


def octaves_of(values: Sequence[np.ndarray], lowest: int, highest: int) -> tuple[int, int]:
    """Whole octaves that hold the finite values, inside [lowest, highest], at least four."""
    finite = np.concatenate([v[np.isfinite(v) & (v > 0)] for v in values] or [np.empty(0)])
    if not len(finite):
        return lowest, lowest + 4
    low = max(lowest, math.floor(math.log2(finite.min())))
    return low, max(min(highest, math.ceil(math.log2(finite.max()))), low + 4)
