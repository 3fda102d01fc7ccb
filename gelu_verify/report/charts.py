"""Geometry of the static error strips: only path strings, the template draws them."""

from __future__ import annotations

import numpy as np

from ..buckets.bins import EMPTY, FLOOR
from .axis import strip_ticks
from .folds import LEVELS, Fold, strip_layout

STRIP_HEIGHT = 20
SPAN = (-2, 26)  # octaves of a strip: what is larger reaches its upper edge


def strip_path(fold: Fold, span: tuple[int, int] = SPAN, height: int = STRIP_HEIGHT) -> str:
    """SVG path of the largest errors as a filled area, one unit per bin; bins without inputs are gaps.

    Errors are drawn on a logarithmic axis, at least one unit high.
    """
    low, high = span
    octave = fold.levels.astype(np.float64) / LEVELS + FLOOR
    level = np.clip(np.rint((octave - low) / (high - low) * height), 1, height).astype(int)
    level[fold.levels == EMPTY] = 0
    starts = np.flatnonzero(np.diff(level, prepend=-1))
    widths = np.diff(np.append(starts, len(level)))
    path, current = [], 0
    for start, width, top in zip(starts.tolist(), widths.tolist(), level[starts].tolist(), strict=True):
        if top and not current:
            path.append(f"M{start} {height}")
        if top or current:
            path.append((f"v{current - top}" if current != top else "") + (f"h{width}" if top else "z"))
        current = top
    return "".join(path) + (f"v{current}z" if current else "")


def nonfinite_path(fold: Fold) -> str:
    """Marks at the upper edge where an output is not finite and should be; wide enough to be seen."""
    return "".join(f"M{max(a - 1, 0)} 0h{b - a + 3}v4h-{b - a + 3}z" for a, b in fold.nonfinite_ranges())


def height_of(octave: float, span: tuple[int, int] = SPAN, height: int = STRIP_HEIGHT) -> float:
    """y of an error of 2^octave ULP in a strip."""
    return round(height - (octave - span[0]) / (span[1] - span[0]) * height, 2)


def strip_axis(dtype: str = "float32") -> list[tuple[float, str]]:
    """(per cent of the length, label) of the places named on the axis that all strips share."""
    return strip_ticks(strip_layout(dtype))
