"""Error envelopes: the 65,536 buckets of a result folded into a few hundred bins along x.

The x axis is ordinal: it runs in the order of the floats, so that every binade has the same width.
Around the interesting part, 1/16 <= |x| < 64, a binade has `per_binade` bins; the many binades
nearer to zero and farther out, where every variant is x/2, x or 0, share a few bins.
A bin keeps the maximum: a down-sampled curve never hides a peak.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import distinct
from ..formats import get_format
from .table import Columns, over, starts_of

if TYPE_CHECKING:
    import pandas as pd

FOCUS = (-4, 6)  # binades 2^-4 .. 2^6
NEAR = (-12, 4)  # binades from 2^-12 up to the focus, where x^2 still counts, and their bins each
SQUEEZED_BINS = (16, 16)  # per side: from zero to 2^-12, from the focus to infinity

FINEST = 32  # bins of a binade that a report draws at most
FLOOR = -40  # log2 |E| from which on an error is drawn
EMPTY = 0  # level of a bin without inputs
HIGHEST = 64  # octaves of the tallest axis: a finite result can be 2^2000 ULP wrong


@dataclass(frozen=True)
class Layout:
    """The bins of one dtype: `edges` are bucket numbers, bin k holds buckets edges[k] <= b < edges[k+1]."""

    dtype: str
    per_binade: int
    edges: np.ndarray

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    def position(self, exponent: int) -> int:
        """Bin edge of x = 2^exponent."""
        return int(np.searchsorted(self.edges, 0x8000 + offset_of(self.dtype, exponent)))


def offset_of(dtype: str, exponent: int) -> int:
    """Buckets between zero and 2^exponent."""
    fmt = get_format(dtype)
    bits = exponent - fmt.emin + 1 << (fmt.precision - 1)
    return bits >> (fmt.width - 16) if fmt.width >= 16 else bits << (16 - fmt.width)


@lru_cache
def layout(dtype: str, per_binade: int) -> Layout:
    """Bins for `dtype`, symmetric about zero; infinities and NaN are outside."""
    low, high = FOCUS
    focus = np.linspace(offset_of(dtype, low), offset_of(dtype, high), (high - low) * per_binade + 1)
    near = np.linspace(offset_of(dtype, NEAR[0]), offset_of(dtype, low), (low - NEAR[0]) * NEAR[1] + 1)
    inner = np.linspace(0, offset_of(dtype, NEAR[0]), SQUEEZED_BINS[0] + 1)
    outer = np.linspace(offset_of(dtype, high), offset_of(dtype, get_format(dtype).emax + 1), SQUEEZED_BINS[1] + 1)
    positive = distinct(np.concatenate([inner, near, focus, outer]).astype(np.int64))
    return Layout(dtype, per_binade, 0x8000 + np.concatenate([-positive[:0:-1], positive]))


FOLDED = {"bucket": "uint16", "n": "uint32", "nonfinite": "uint32", "max_error": "float32"}


def folded(columns: Columns, dtype: str) -> Columns:
    """The columns FOLDED of a bucket table in the finest bins: `bucket` is a bin's first, errors are rounded up."""
    edges = layout(dtype, FINEST).edges
    place = np.searchsorted(edges, columns["bucket"].astype(np.int64), side="right") - 1
    inside = (place >= 0) & (place < len(edges) - 1)
    place, inner = place[inside], {name: columns[name][inside] for name in FOLDED}
    if not len(place):
        return {name: np.empty(0, kind) for name, kind in FOLDED.items()}
    starts = starts_of(place)
    return {
        "bucket": edges[place[starts]].astype(np.uint16),
        **{name: over(np.add, inner[name], starts, np.uint32) for name in ("n", "nonfinite")},
        "max_error": rounded_up(over(np.fmax, inner["max_error"], starts)),
    }


def is_folded(columns: Columns) -> bool:
    """Whether these are the columns of a folded table."""
    return list(columns) == list(FOLDED)


def rounded_up(error: np.ndarray) -> np.ndarray:
    """As float32, never smaller; an error beyond float32 is infinite."""
    with np.errstate(over="ignore"):
        near = error.astype(np.float32)
    return np.where(near < error, np.nextafter(near, np.float32(np.inf)), near)


@dataclass(frozen=True)
class Envelope:
    """max |E| per bin (NaN where the bin has no inputs) and the bins with a non-finite output."""

    layout: Layout
    max_error: np.ndarray
    nonfinite: np.ndarray


def envelope(table: pd.DataFrame, dtype: str, per_binade: int) -> Envelope:
    """Fold the columns `bucket`, `max_error` and `nonfinite` of a bucket table into the bins of `dtype`."""
    bins = layout(dtype, per_binade)
    place = np.searchsorted(bins.edges, table["bucket"].to_numpy(np.int64), side="right") - 1
    inside = (place >= 0) & (place < bins.size)
    peak = np.full(bins.size, np.nan)
    np.fmax.at(peak, place[inside], table["max_error"].to_numpy(np.float64)[inside])
    nonfinite = np.zeros(bins.size, bool)
    nonfinite[place[inside & (table["nonfinite"].to_numpy() > 0)]] = True
    return Envelope(bins, peak, nonfinite)
