"""The named parts of x that a result is split into: regions, and intervals, which are finer.

The tails are where implementations part. A region ends where a reader expects it; an interval is made of whole buckets,
so that what is counted for buckets adds up for an interval too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from ..formats import Format, get_format


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
def region_edges(dtype: str) -> np.ndarray:
    """Ordinals (int64) that part the regions: region k holds edges[k] <= ordinal < edges[k+1]."""
    fmt = get_format(dtype)
    inner = [_first_ordinal(fmt, region.lower) for region in REGIONS if region.lower is not None]
    lowest, highest = fmt.ordinal(fmt.max_finite | fmt.sign_mask), fmt.ordinal(fmt.max_finite)
    return np.array([lowest, *inner, highest + 1], dtype=np.int64)


def region_of(dtype: str, x_bits: str) -> str | None:
    """The name of the region of an input; None of infinities and NaN."""
    fmt = get_format(dtype)
    place = int(np.searchsorted(region_edges(dtype), fmt.ordinal(int(x_bits, 16)), side="right")) - 1
    return REGIONS[place].name if 0 <= place < len(REGIONS) else None


INFINITE = ("-inf or NaN", "inf or NaN")
_MAGNITUDES = (
    *("0", "2^-12", "2^-8", "2^-4", "2^-3", "2^-2", "2^-1"),
    *("1", "1.5", "2", "3", "4", "6", "8", "12", "16", "32", "64", "inf"),
)
INTERVALS = (
    INFINITE[0],
    *(f"(-{upper},-{lower}]" for lower, upper in reversed([*pairwise(_MAGNITUDES)])),
    *(f"[{lower},{upper})" for lower, upper in pairwise(_MAGNITUDES)),
    INFINITE[1],
)


@cache
def interval_edges(dtype: str) -> np.ndarray:
    """Buckets that part the intervals: interval k holds edges[k] <= bucket < edges[k+1]; -0 lies with the negative."""
    fmt = get_format(dtype)
    above = [_bucket_offset(fmt, text) for text in _MAGNITUDES]
    return np.array([0, *(0x8000 - each for each in reversed(above)), *(0x8000 + each for each in above[1:]), 0x10000])


def _bucket_offset(fmt: Format, text: str) -> int:
    """Buckets between zero and a magnitude, which is the first of its bucket."""
    base, _, exponent = text.partition("^")
    bits = fmt.infinity if text == "inf" else fmt.round(Fraction(base) ** int(exponent or 1))
    return bits >> (fmt.width - 16) if fmt.width >= 16 else bits << (16 - fmt.width)


def _first_ordinal(fmt: Format, value: int) -> int:
    """Lowest ordinal of that value: -0 for zero."""
    return fmt.ordinal(fmt.round(value, negative_zero=True))
