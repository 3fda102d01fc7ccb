"""The unit of results: the statistics of all inputs that share the top 16 bits of their ordinal.

`reducer.reduce` makes the table of one chunk, `merge` joins tables of chunks that do not overlap. Merging is exact,
associative and commutative: integers are added, maxima break ties by the lowest ordinal of x, so every order and every
split of the chunks gives the same bytes. Neighbours in different chunks are compared by `finish`, once, when all
chunks are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..formats import Format, buckets, from_ordinals, ordinals
from ..functions import Function

SUM_SCALE = 1 << 16  # error_sum counts 2^-16 ulp
LARGEST = float(np.finfo(np.float64).max)  # the error of a finite result, where a double cannot hold it
NOISE = 2.0**-17  # ulp: smaller errors count as 0; half a unit of error_sum, and no more is known of an error anyway
SUM_CLIP = float(1 << 24)  # one lost result must not drown the bias of all others
HIST_EDGES = (
    *(1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0),
    *(2.0**k for k in (10, 12, 16, 20, 24, 32, 40)),
    np.inf,
)  # hist_k counts HIST_EDGES[k-1] < |E| <= HIST_EDGES[k]

SUMS = {
    **{"n": np.uint32, "error_sum": np.int64, "correct": np.uint32, "faithful": np.uint32, "bits_hash": np.uint64},
    "zero_sign": np.uint32,  # zeros of the wrong sign, for finite x
}
NEAREST = ("nonfinite", "wrong_sign", "zero_lost", "rises")  # count, and the input nearest to zero in <name>_x
WITNESS = ("max_error_x", "max_error_got", "max_error_want")
BITS = (*WITNESS, *(f"{name}_x" for name in NEAREST))

Columns = dict[str, np.ndarray]
Records = Any  # an array of records: np.ndarray costs mypy 0.1 s and more for a line that takes fields of it
Key = tuple[Any, ...] | None
_FAR = np.uint64(np.iinfo(np.uint64).max)


@dataclass(frozen=True)
class Facts:
    """Properties of all inputs together; of each key the smallest wins, None loses."""

    max_rank: int = 0  # floats between got and the correctly rounded value
    lowest_got: Key = None  # (ordinal of got, ordinal of x), finite results
    highest_got: Key = None  # (-ordinal of got, ordinal of x)
    # (|x| bits, ordinal of x, got bits) of the input nearest to zero
    nonfinite: Key = None
    wrong_sign: Key = None
    zero_from: Key = None  # in the tail at -inf got is a zero and should not be
    rises: Key = None  # also ordinal of x and got bits of the neighbour below
    beyond_x: Key = None  # |got| > |x| where |f| <= |x|
    zero_sign: Key = None  # got and the correctly rounded result are zeros of different sign, and x is finite and not 0
    nan_wrong: Key = None  # x is NaN and got is not, or x is a quiet NaN and got signals
    approximation_ulp: Key = None  # (-|E|, ordinal of x) against what the function approximates
    approximation_abs: Key = None  # (-|got - y|, ordinal of x)

    def merged(self, other: Facts) -> Facts:
        keys = {f.name: _least(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)[1:]}
        return Facts(max(self.max_rank, other.max_rank), **keys)


def _least(a: Key, b: Key) -> Key:
    return b if a is None else a if b is None else min(a, b)


@dataclass(frozen=True)
class Table:
    """Rows of buckets (ascending), rows of regions, the ends of each chunk, and facts."""

    fmt: Format
    columns: Columns
    hist: np.ndarray  # (len(HIST_EDGES), rows), uint32
    regions: Columns
    segments: np.ndarray  # (chunks, 4) ordinals: first x, its got, last x, its got
    samples: np.ndarray  # (fixed inputs among them, 2) bits, uint64: x, got
    facts: Facts

    def total(self, column: str) -> int:
        return int(self.columns[column].sum(dtype=np.int64))

    def worst(self) -> int | None:
        """Row of the largest error; None where nothing was scored."""
        errors = self.columns["max_error"]
        return None if np.isnan(errors).all() else int(np.nanargmax(errors))

    @cached_property
    def whole(self) -> np.ndarray:
        """Whether every input of a row's bucket was tried, one bool per row: a plan holds each input once."""
        return np.asarray(self.columns["n"] == bucket_inputs(self.fmt))

    @cached_property
    def flat(self) -> Columns:
        """All columns as they are stored, histogram included."""
        return {**self.columns, **{f"hist_{k:02d}": row for k, row in enumerate(self.hist)}}


def bucket_inputs(fmt: Format) -> int:
    """How many inputs share the top 16 bits of their ordinal: 1, 2^16 or 2^48."""
    return 1 << max(fmt.width - 16, 0)


# ---- monotone pieces -----------------------------------------------------------------------------


@dataclass(frozen=True)
class MonotonePieces:
    """Where a function rises and falls, in ordinals of x: between two turning points it does one of both."""

    turns: np.ndarray
    falls_first: bool
    infinity: int  # ordinal of +inf: NaNs lie beyond
    is_monotone: bool = True  # between turning points; else nothing is known, and nothing is violated

    @classmethod
    def of(cls, function: Function, fmt: Format) -> MonotonePieces:
        turns = [fmt.ordinal(fmt.round(Fraction(text), "down")) for text in function.turning_points or ()]
        infinity, is_monotone = fmt.ordinal(fmt.infinity), function.turning_points is not None
        return cls(np.array(turns, dtype=np.int64), function.falls_first, infinity, is_monotone)

    def violated(self, x: np.ndarray, x_next: np.ndarray, got: np.ndarray, got_next: np.ndarray) -> np.ndarray:
        """Where the result moves against the function from x to x_next (ordinals, x < x_next), by more than one float.

        One float is what two faithful roundings of nearly equal values may differ by, either way.
        """
        piece = np.searchsorted(self.turns, x)
        falls = (piece % 2 == 0) == self.falls_first
        rank, rank_next = got + (got < 0), got_next + (got_next < 0)
        valid: np.ndarray = (piece == np.searchsorted(self.turns, x_next)) & self.is_monotone
        for ordinal in (x, x_next, got, got_next):
            valid &= (ordinal <= self.infinity) & (ordinal >= -1 - self.infinity)
        valid &= np.where(falls, rank_next > rank + 1, rank_next < rank - 1)
        return valid


# ---- rows: reductions over runs of equal keys --------------------------------------------------------


def starts_of(key: np.ndarray) -> np.ndarray:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))


def over(reduction: np.ufunc, values: np.ndarray, starts: np.ndarray, kind: Any = None) -> np.ndarray:
    """`reduction` over each run of a row; the values themselves where every row is one value."""
    if len(starts) == values.shape[-1]:
        return values if kind is None else values.astype(kind)
    return reduction.reduceat(values, starts, axis=-1, dtype=kind)


def worst_of(absolute: np.ndarray, starts: np.ndarray, rows: np.ndarray, bits: Columns) -> Columns:
    """Largest error of each row (NaN where nothing was scored) and its first witness."""
    top = over(np.maximum, absolute, starts)
    if len(top) == len(absolute):
        first = starts
    else:
        hits = np.flatnonzero(absolute == top[rows])
        first = hits[starts_of(rows[hits])]
    return {
        "max_error": np.where(top < 0, np.nan, top),
        **{name: column[first].astype(np.uint64) for name, column in bits.items()},
    }


def nearest_of(
    fmt: Format, name: str, bucket: np.ndarray, count: np.ndarray, x: np.ndarray, starts: np.ndarray
) -> Columns:
    """Sum of `count` in each row, and the x nearest to zero of those counted (0 where there are none)."""
    if not count.any():
        return {name: np.zeros(len(starts), dtype=np.uint32), f"{name}_x": np.zeros(len(starts), dtype=np.uint64)}
    total = over(np.add, count, starts, np.uint32)
    magnitude = x.astype(np.uint64) & np.uint64(fmt.sign_mask - 1)
    near = over(np.minimum, np.where(count > 0, magnitude, _FAR), starts)
    sign = np.where(bucket < 0x8000, np.uint64(fmt.sign_mask), np.uint64(0))  # no bucket holds both signs
    return {name: total, f"{name}_x": np.where(total > 0, near | sign, np.uint64(0))}


# ---- many chunks ---------------------------------------------------------------------------------


def merge(tables: Sequence[Table]) -> Table:
    """The table of all inputs of `tables`, whose chunks do not overlap."""
    fmt = tables[0].fmt
    if len(tables) == 1:
        return tables[0]
    hist = np.concatenate([t.hist for t in tables], axis=1)
    columns, hist = merged_rows(fmt, _stacked([t.columns for t in tables]), hist)
    segments = np.concatenate([t.segments for t in tables])
    samples = np.concatenate([t.samples for t in tables])
    facts = tables[0].facts
    for table in tables[1:]:
        facts = facts.merged(table.facts)
    regions = merged_regions(fmt, _stacked([t.regions for t in tables]))
    by_x = np.argsort(segments[:, 0]), np.argsort(samples[:, 0])
    return Table(fmt, columns, hist, regions, segments[by_x[0]], samples[by_x[1]], facts)


def _stacked(tables: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([t[name] for t in tables]) for name in tables[0]}


def _by_key(fmt: Format, columns: Columns, key: str) -> np.ndarray:
    """Order by key, then by the ordinal of the witness: the first maximum has the lowest. Of pairs with one x, by the
    bits of output and result."""
    x = ordinals(fmt, columns["max_error_x"].astype(fmt.uint))
    return np.lexsort((columns["max_error_want"], columns["max_error_got"], x, columns[key]))


def merged_rows(fmt: Format, columns: Columns, hist: np.ndarray) -> tuple[Columns, np.ndarray]:
    """Rows by bucket, those of one bucket joined; rows that are alone stay as they are."""
    if (columns["bucket"][1:] > columns["bucket"][:-1]).all():
        return columns, hist
    order = np.argsort(columns["bucket"], kind="stable")
    starts = starts_of(columns["bucket"][order])
    shared = np.diff(starts, append=len(order)) > 1
    merged = {name: column[order[starts]] for name, column in columns.items()}
    merged_hist = hist[:, order[starts]]
    if not shared.any():
        return merged, merged_hist
    several = order[np.repeat(shared, np.diff(starts, append=len(order)))]
    several = several[_by_key(fmt, {name: columns[name][several] for name in ("bucket", *WITNESS)}, "bucket")]
    joined = _joined(fmt, {name: column[several] for name, column in columns.items()})
    for name in columns:
        merged[name][shared] = joined[name]
    joined_starts = starts_of(columns["bucket"][several])
    merged_hist[:, shared] = over(np.add, hist[:, several], joined_starts, np.uint32)
    return merged, merged_hist


def _joined(fmt: Format, columns: Columns) -> Columns:
    """One row of each run of equal buckets."""
    starts = starts_of(columns["bucket"])
    merged: Columns = {"bucket": columns["bucket"][starts]}
    merged |= {name: over(np.add, columns[name], starts, kind) for name, kind in SUMS.items()}
    merged |= _merged_worst(columns, starts)
    for name in NEAREST:
        merged |= nearest_of(fmt, name, merged["bucket"], columns[name], columns[f"{name}_x"], starts)
    return merged


def _merged_worst(columns: Columns, starts: np.ndarray) -> Columns:
    absolute = np.where(np.isnan(columns["max_error"]), -1.0, columns["max_error"])
    rows = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(absolute)))
    return worst_of(absolute, starts, rows, {name: columns[name] for name in WITNESS})


def merged_regions(fmt: Format, columns: Columns) -> Columns:
    if not len(columns["region"]):
        return columns
    order = _by_key(fmt, columns, "region")
    columns = {name: column[order] for name, column in columns.items()}
    starts = starts_of(columns["region"])
    counts = {"region": columns["region"][starts], "n": np.add.reduceat(columns["n"], starts)}
    return counts | _merged_worst(columns, starts)


def finish(table: Table, pieces: MonotonePieces) -> Table:
    """The table with the neighbours in different chunks compared as well; once, when all are in."""
    ends = table.segments
    flag = pieces.violated(ends[:-1, 2], ends[1:, 0], ends[:-1, 3], ends[1:, 1])
    if not flag.any():
        return table
    fmt, columns = table.fmt, dict(table.columns)
    x = from_ordinals(fmt, ends[1:, 0][flag])
    place = np.searchsorted(columns["bucket"], buckets(fmt, x))
    count = np.concatenate([columns["rises"], np.ones(len(x), dtype=np.uint32)])
    witness = np.concatenate([columns["rises_x"], x.astype(np.uint64)])
    row = np.concatenate([np.arange(len(columns["bucket"])), place])
    order = np.argsort(row, kind="stable")
    columns |= nearest_of(fmt, "rises", columns["bucket"], count[order], witness[order], starts_of(row[order]))
    size = np.abs(ends[1:, 0][flag] + (ends[1:, 0][flag] < 0))
    first = int(np.argmin(size))
    (_, _, below, got_below), (above, got_above, _, _) = ends[:-1][flag][first], ends[1:][flag][first]
    nearest = int(size[first]), int(above), fmt.from_ordinal(int(got_above))
    facts = table.facts.merged(Facts(rises=(*nearest, int(below), fmt.from_ordinal(int(got_below)))))
    return replace(table, columns=columns, facts=facts)
