"""Two bucket tables of one target side by side: which buckets have other results, and which are worse or better.

Two buckets are compared only where both hold the same inputs: both runs tried the same ones, or all that there are. Of
a bucket with several inputs only the worst output is kept, so how many of its results differ is not known exactly.
"""

from __future__ import annotations

import numpy as np

from ..arrays import distinct
from ..buckets.bins import folded, is_folded
from ..buckets.table import HIST_EDGES
from ..formats import Format, get_format
from ..functions.regions import INTERVALS, interval_edges
from ..judge.rules import KNOWN_TO, RELATIVE, SMALL
from ..judge.sides import Bits, ChangeWitness, IntervalChange, KeptChanges, Shown
from ..runs.bucket_files import read_columns
from ..runs.integrity import HISTOGRAM
from ..runs.store import Run

_WHOLE = ("n", "correct", "faithful", "bits_hash", "max_error", "nonfinite", "wrong_sign")
_WITNESS = ("max_error_x", "max_error_got", "max_error_want")
Columns = dict[str, np.ndarray]


def compare_kept(
    old: tuple[Run, int], new: tuple[Run, int], same_inputs: bool, only: np.ndarray | None = None
) -> KeptChanges | None:
    """The buckets of two results, each a run and an index; None where a run kept none. `only`: of these buckets."""
    sides = [run.results[index] for run, index in (old, new)]
    if any(record.buckets is None for record in sides):
        return None
    fmt = get_format(sides[0].dtype)
    names = ("bucket", *_WHOLE, *_WITNESS, *HISTOGRAM)
    first, second = (read_columns(run.buckets(index), names) for run, index in (old, new))
    if as_bins := is_folded(first) or is_folded(second):
        first, second = folded(first, fmt.name), folded(second, fmt.name)
    if only is not None:
        first, second = (
            {name: column[np.isin(side["bucket"], only)] for name, column in side.items()} for side in (first, second)
        )
    bucket, left, right = np.intersect1d(first["bucket"], second["bucket"], assume_unique=True, return_indices=True)
    whole = np.uint64(1 << max(fmt.width - 16, 0))
    usable = first["n"][left] == second["n"][right]
    if not same_inputs:
        usable &= (first["n"][left] == whole) & (not as_bins)
    bucket, left, right = bucket[usable], left[usable], right[usable]
    left_out = len(first["bucket"]) + len(second["bucket"]) - 2 * len(bucket)
    a, b = ({name: column[rows] for name, column in side.items()} for side, rows in ((first, left), (second, right)))
    return _compared(fmt, bucket, a, b, left_out)


def _compared(fmt: Format, bucket: np.ndarray, a: Columns, b: Columns, left_out: int) -> KeptChanges:
    has_bits = "bits_hash" in a and "bits_hash" in b
    differ = a["bits_hash"] != b["bits_hash"] if has_bits else np.ones(len(bucket), bool)
    rows = np.flatnonzero(differ)
    worse, better, clearly_worse, clearly_better = (np.zeros(len(bucket), bool) for _ in range(4))
    part = [{name: column[rows] for name, column in side.items()} for side in (a, b)]
    worse[rows], better[rows] = _is_worse(*part), _is_worse(*reversed(part))
    clearly_worse[rows], clearly_better[rows] = _is_clearly_worse(*part), _is_clearly_worse(*reversed(part))
    changed = differ if has_bits else worse | better
    n = a["n"].astype(np.int64)
    bits = None
    if has_bits:
        least, most = int(differ.sum()), int(n[differ].sum())
        bits = Bits(len(bucket), least, int(n.sum()) or None, least, most)
    place = np.searchsorted(interval_edges(fmt.name), bucket, side="right") - 1
    found = []
    for index in distinct(place[changed]).tolist():
        inside = place == index
        members = [np.flatnonzero(inside & which) for which in (worse, better, changed)]
        shown = [_shown(fmt, bucket, a, b, each, sign) for each, sign in zip(members, (1, -1, 1), strict=True)]
        sizes = [int((inside & which).sum()) for which in (worse, better, changed, clearly_worse, clearly_better)]
        found.append(
            IntervalChange(
                INTERVALS[index], worse=sizes[0], better=sizes[1], differ=sizes[2], clearly_worse=sizes[3],
                clearly_better=sizes[4], worst=shown[0], best=shown[1], any=shown[2],
            )
        )  # fmt: skip
    return KeptChanges(left_out, bits, tuple(found))


def _is_worse(a: Columns, b: Columns) -> np.ndarray:
    """Whether each bucket of `b` is worse than that of `a` in anything that is kept."""
    found = np.asarray(_is_spoiled(a, b) | _larger_errors(a, b))
    for name in ("correct", "faithful"):
        if name in a and name in b:
            found |= b[name] < a[name]
    return found


def _is_clearly_worse(a: Columns, b: Columns) -> np.ndarray:
    """Whether it is worse even than that of `a` with every error SMALL larger, as far as is known."""
    if HISTOGRAM[0] not in a or HISTOGRAM[0] not in b:
        return _is_worse(a, b)
    return np.asarray(_is_spoiled(a, b) | _larger_errors(a, b, SMALL))


def _is_spoiled(a: Columns, b: Columns) -> np.ndarray:
    """Whether fewer results have an error, or more are not finite or have the wrong sign."""
    found = np.asarray(_scored(b) < _scored(a))
    for name in ("nonfinite", "wrong_sign"):
        if name in a and name in b:
            found |= b[name] > a[name]
    return found


def _larger_errors(a: Columns, b: Columns, by: float = 0.0) -> np.ndarray:
    """Whether the largest error is more than `by` larger, or more errors are above an edge of the histogram than were
    above an edge that is at most `by` below it.

    What had no error before, as NaN has none, is not worse now that it has one.
    """
    old, new = (np.nan_to_num(side["max_error"].astype(np.float64), nan=-1.0) for side in (a, b))
    with np.errstate(invalid="ignore"):  # the difference of two infinities of a committed run
        found = np.asarray(new > old + by + KNOWN_TO + RELATIVE * np.abs(old))
    if HISTOGRAM[0] in a and HISTOGRAM[0] in b and len(found):
        before, after = (_above(side) for side in (a, b))
        edges = np.array(HIST_EDGES[:-1])
        limits = np.searchsorted(edges, edges - by)
        limited = edges > by
        found |= (after[limited] > before[limits[limited]]).any(axis=0)
    return found & (_scored(b) <= _scored(a))


def _above(columns: Columns) -> np.ndarray:
    """How many errors of each bucket are above each edge of the histogram but the last (rows)."""
    counts = np.stack([columns[name] for name in HISTOGRAM])
    return np.asarray(np.cumsum(counts[:0:-1], axis=0, dtype=np.int64)[::-1])


def _scored(columns: Columns) -> np.ndarray:
    """How many results of each bucket have an error; where that was not kept, whether any has."""
    if HISTOGRAM[0] in columns:
        return np.asarray(np.stack([columns[name] for name in HISTOGRAM]).sum(axis=0, dtype=np.int64))
    return (~np.isnan(columns["max_error"])).astype(np.int64)


def _shown(fmt: Format, bucket: np.ndarray, a: Columns, b: Columns, rows: np.ndarray, sign: int) -> Shown:
    """The bucket whose error changes most in the direction of `sign`, one with a known input before others."""
    if not len(rows):
        return Shown()
    x_name, got_name, _ = _WITNESS
    growth = sign * (np.nan_to_num(b["max_error"][rows], nan=0.0) - np.nan_to_num(a["max_error"][rows], nan=0.0))
    if x_name not in a or x_name not in b:
        return Shown(_span(fmt, bucket[rows[np.argmax(growth)]]))
    moved = (a[x_name][rows] != b[x_name][rows]) | (a[got_name][rows] != b[got_name][rows])
    row = int(rows[np.lexsort((-growth, ~moved))[0]])
    witness = _witness(fmt, a, b, row, by_old=sign < 0) if moved.any() else None
    return Shown(_span(fmt, bucket[row]), witness)


def _span(fmt: Format, bucket: int) -> str:
    """The first and the last input of a bucket."""
    shift = max(fmt.width - 16, 0)
    first = (int(bucket) - 0x8000) << shift
    return ":".join(fmt.bits_text(fmt.from_ordinal(end)) for end in (first, first + (1 << shift) - 1))


def _witness(fmt: Format, a: Columns, b: Columns, row: int, by_old: bool) -> ChangeWitness:
    """The worst input of one of the sides in a bucket, and what the other gave there, where that was kept."""
    own, other = (a, b) if by_old else (b, a)
    x, got, want = (int(own[name][row]) for name in _WITNESS)
    elsewhere = None if int(other[_WITNESS[0]][row]) != x else fmt.bits_text(int(other[_WITNESS[1]][row]))
    old, new = (fmt.bits_text(got), elsewhere) if by_old else (elsewhere, fmt.bits_text(got))
    return ChangeWitness(fmt.bits_text(x), old, new, fmt.bits_text(want))
