"""The strip in a row of the ranked table: the largest error against x, drawn by the one chart, without axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..buckets.bins import EMPTY, FLOOR
from ..records.accuracy import ACCURATE
from ..show.chart import Axis, Chart, Curve
from ..show.drawing import path_data
from .folds import LEVELS, Fold

HEIGHT, MARK = 20, 4  # of a strip, and of the mark at its upper edge where an output is not finite and should be
SPAN = (-2, 26)  # octaves: what is larger reaches the upper edge


def strip(fold: Fold) -> dict[str, Any]:
    """Paths, one unit for each bin: errors as an area, at least one unit high, with gaps where there are no inputs."""
    octave = fold.levels.astype(np.float64) / LEVELS + FLOOR
    errors = np.clip(np.rint((octave - SPAN[0]) / (SPAN[1] - SPAN[0]) * HEIGHT), 1, HEIGHT)
    nonfinite = np.convolve(fold.nonfinite, (1, 1, 1), "same") > 0  # wide enough to be seen
    return {
        "errors": _area(np.where(fold.levels == EMPTY, math.nan, errors), HEIGHT),
        "nonfinite": _area(np.where(nonfinite, MARK, math.nan), MARK),
        "size": fold.layout.size,
        "height": HEIGHT,
        "accurate": round(HEIGHT * (SPAN[1] - math.log2(ACCURATE)) / (SPAN[1] - SPAN[0]), 2),
    }


def _area(heights: np.ndarray, height: int) -> str:
    axes = Axis((0, len(heights))), Axis((0, height))
    chart = Chart(title="", x=axes[0], y=axes[1], width=len(heights), height=height, left=0, right=0, top=0, bottom=0)
    return path_data(chart, Curve(points=list(enumerate([*heights.tolist(), math.nan])), kind="area"))
