"""The named intervals of x that a result is split into: the tails are where implementations part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .environment import in_default_environment
from .formats import Format, get_format


@dataclass(frozen=True)
class Region:
    """The finite x with lower <= x < upper; None has no limit. -0 lies with +0."""

    name: str
    lower: int | None
    upper: int | None


REGIONS = (
    Region("(-inf,-8)", None, -8),
    Region("[-8,-5)", -8, -5),
    Region("[-5,-3)", -5, -3),
    Region("[-3,-1)", -3, -1),
    Region("[-1,0)", -1, 0),
    Region("[0,1)", 0, 1),
    Region("[1,inf)", 1, None),
)


@cache
@in_default_environment
def region_edges(dtype: str) -> np.ndarray:
    """Ordinals (int64) that part the regions: region k holds edges[k] <= ordinal < edges[k+1]."""
    fmt = get_format(dtype)
    inner = [_first_ordinal(fmt, region.lower) for region in REGIONS if region.lower is not None]
    lowest, highest = fmt.ordinal(fmt.max_finite | fmt.sign_mask), fmt.ordinal(fmt.max_finite)
    return np.array([lowest, *inner, highest + 1], dtype=np.int64)


def _first_ordinal(fmt: Format, value: int) -> int:
    """Lowest ordinal of that value: -0 for zero."""
    return fmt.ordinal(fmt.round(value, negative_zero=True))
