"""One result's buckets, folded for the page: the worst input of every bin of x, mean errors, a signed histogram.

A bin keeps the worst of its buckets with its input, so that a coarser curve never hides a peak and a click on it can
name the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from ..arrays import distinct
from ..buckets.bins import EMPTY, FLOOR, Layout, offset_of
from ..buckets.table import HIST_EDGES, SUM_SCALE
from ..formats import Format, get_format, to_float64

LEVELS = 128  # per octave of |E|
MEAN_LEVELS = 16  # per octave of the mean error
HISTOGRAM = tuple(f"hist_{k:02d}" for k in range(len(HIST_EDGES)))
COLUMNS = (
    *("bucket", "n", "error_sum", "nonfinite"),
    *("max_error", "max_error_x", "max_error_got", "max_error_want"),
    *HISTOGRAM,
)
_KNOWN, _NEGATIVE = 14, 15  # bits of a level
_LARGEST = (1 << _KNOWN) - 1
_CORRECT = 0.5 + 2.0**-12  # a witness of at most that error is not worth its bytes: the output is the correct one
STRIP = ((-12, -2, 1), (-2, 5, 12))  # binades of a static strip, with the bins of each
_STRIP_ENDS = 3  # bins from zero to its first binade, and from its last to infinity


@dataclass(frozen=True)
class Fold:
    """Columns by bin; `position` is that of the bin's edges."""

    layout: Layout
    n: np.ndarray
    max_error: np.ndarray  # NaN where nothing was scored
    x: np.ndarray  # bits of the input with that error
    got: np.ndarray
    want: np.ndarray
    nonfinite: np.ndarray
    error_sum: np.ndarray  # of signed errors, in ULP

    @classmethod
    def of(cls, table: pd.DataFrame, bins: Layout) -> Fold:
        """The buckets of a stored table (COLUMNS) in the bins."""
        nothing = np.zeros(len(table), np.int64)  # folded buckets have no inputs and no sums
        columns = {name: table[name].to_numpy() if name in table else nothing for name in COLUMNS[:8]}
        place = np.searchsorted(bins.edges, columns["bucket"].astype(np.int64), side="right") - 1
        return _folded(bins, place, columns | {"error_sum": columns["error_sum"] / SUM_SCALE})

    def into(self, bins: Layout) -> Fold:
        """The same in other bins, whose edges are among the edges of these."""
        place = np.searchsorted(bins.edges, self.layout.edges[:-1], side="right") - 1
        columns = {"max_error_x": self.x, "max_error_got": self.got, "max_error_want": self.want}
        columns |= {name: getattr(self, name) for name in ("n", "max_error", "nonfinite", "error_sum")}
        return _folded(bins, place, columns)

    @property
    def levels(self) -> np.ndarray:
        """log2 |E| as uint16: 0 no inputs, 1 exact, then 1/LEVELS of an octave each, rounded up."""
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.ceil((np.log2(self.max_error) - FLOOR) * LEVELS)
        level = np.clip(np.nan_to_num(level, nan=EMPTY, neginf=1, posinf=_LARGEST), 1, _LARGEST)
        return np.where(np.isnan(self.max_error), EMPTY, level).astype(np.uint16)

    @property
    def signed_levels(self) -> np.ndarray:
        """The levels, with a bit that says that the sign of the error is known, and one that it is negative."""
        fmt = get_format(self.layout.dtype)
        got, want = (to_float64(fmt, part.astype(fmt.uint)) for part in (self.got, self.want))
        known = np.isfinite(got) & np.isfinite(want) & (got != want)
        return np.asarray(
            self.levels | (known << _KNOWN).astype(np.uint16) | ((known & (got < want)) << _NEGATIVE).astype(np.uint16)
        )

    @property
    def mean_levels(self) -> np.ndarray:
        """The mean signed error as int16: its sign, and log2 of its size above FLOOR; 0 for none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.error_sum / self.n
            size = np.rint((np.log2(np.abs(mean)) - FLOOR) * MEAN_LEVELS)
        size = np.clip(np.nan_to_num(size, nan=0, neginf=0, posinf=0), 0, 0x7FFF)
        return np.asarray((np.sign(np.nan_to_num(mean)) * size).astype(np.int16))

    def nonfinite_ranges(self) -> list[tuple[int, int]]:
        """[first, last] bins with a non-finite output, in runs."""
        where = np.flatnonzero(self.nonfinite)
        runs = np.split(where, np.flatnonzero(np.diff(where) > 1) + 1)
        return [(int(run[0]), int(run[-1])) for run in runs if run.size]

    def encoded(self, witness_bins: Layout) -> bytes:
        """Levels and mean levels of each bin, then x, want, and got ^ want of the worst input of each coarser one.

        Numbers are little-endian and stand byte by byte, all lowest bytes first: so they compress. Bits are zero
        where the worst output is the correct one.
        """
        shape = self.into(witness_bins)
        fmt = get_format(self.layout.dtype)
        wrong = shape.max_error > _CORRECT
        bits = (np.where(wrong, part, 0).astype(fmt.uint) for part in (shape.x, shape.want, shape.got ^ shape.want))
        return b"".join(_bytewise(part) for part in (self.signed_levels, self.mean_levels, *bits))


def _bytewise(column: np.ndarray) -> bytes:
    little = np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<")))
    return little.view(np.uint8).reshape(len(column), -1).T.tobytes()


def _folded(bins: Layout, place: np.ndarray, columns: Mapping[str, np.ndarray]) -> Fold:
    """`place` is the bin of each row, ascending; rows outside of the bins are left out."""
    inside = slice(*np.searchsorted(place, [0, bins.size]))
    place, columns = place[inside], {name: column[inside] for name, column in columns.items()}
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    found = place[starts]
    error = np.where(np.isnan(columns["max_error"]), -1.0, columns["max_error"].astype(np.float64))
    worst = _worst_of_runs(error, starts)

    def spread(values: np.ndarray, empty: float) -> np.ndarray:
        whole = np.full(bins.size, empty, dtype=values.dtype)
        whole[found] = values
        return whole

    def total(name: str, kind: type) -> np.ndarray:
        return spread(np.add.reduceat(columns[name].astype(kind), starts) if len(starts) else np.empty(0, kind), 0)

    peak = error[worst]
    return Fold(
        bins,
        n=total("n", np.int64),
        max_error=spread(np.where(peak < 0, np.nan, peak), np.nan),
        x=spread(columns["max_error_x"][worst], 0),
        got=spread(columns["max_error_got"][worst], 0),
        want=spread(columns["max_error_want"][worst], 0),
        nonfinite=total("nonfinite", np.int64) > 0,
        error_sum=total("error_sum", np.float64),
    )


def _worst_of_runs(error: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Of each run of rows, which begin at `starts`, the last row with the largest error."""
    if not len(starts):
        return starts
    peaks = np.flatnonzero(error == np.repeat(np.maximum.reduceat(error, starts), np.diff(starts, append=len(error))))
    return np.asarray(peaks[np.searchsorted(peaks, np.append(starts[1:], len(error))) - 1])


@lru_cache
def strip_layout(dtype: str) -> Layout:
    """The bins of a static strip: few, and the same number for all dtypes of 16 bits and more."""
    low, high = STRIP[0][0], STRIP[-1][1]
    edges = [*np.linspace(0, offset_of(dtype, low), _STRIP_ENDS + 1)]
    for start, end, bins in STRIP:
        edges += [*np.linspace(offset_of(dtype, start), offset_of(dtype, end), (end - start) * bins + 1)[1:]]
    edges += [*np.linspace(offset_of(dtype, high), offset_of(dtype, get_format(dtype).emax + 1), _STRIP_ENDS + 1)[1:]]
    positive = distinct(np.array(edges).astype(np.int64))
    return Layout(dtype, STRIP[-1][2], 0x8000 + np.concatenate([-positive[:0:-1], positive]))


def signed_histogram(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """Counts by size of |E| of the outputs too low and too high: each bucket's inputs under the sign of its mean; None
    of folded buckets, which have none.

    A bucket of a 16-bit dtype is one input, and the sign is its own.
    """
    if HISTOGRAM[0] not in table:
        return None
    counts, low_rows = [table[name].to_numpy() for name in HISTOGRAM], np.flatnonzero(table["error_sum"].to_numpy() < 0)
    low = np.array([column.take(low_rows).sum(dtype=np.int64) for column in counts])
    return low, np.array([column.sum(dtype=np.int64) for column in counts]) - low


def position(bins: Layout, bits: int, fmt: Format) -> float:
    """Where the input lies on the axis of these bins, as a fraction of its length."""
    offset = (fmt.ordinal(bits) << 16) / (1 << fmt.width) + 0x8000
    return float(np.interp(offset, bins.edges, np.arange(len(bins.edges)))) / bins.size
