"""The table of one chunk by NumPy: the witness of the C reducer, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gelu_verify.buckets.reducer import Outcome
from gelu_verify.buckets.table import (
    HIST_EDGES,
    NOISE,
    SUM_CLIP,
    SUM_SCALE,
    SUMS,
    WITNESS,
    Columns,
    Facts,
    MonotonePieces,
    Table,
    nearest_of,
    over,
    starts_of,
    worst_of,
)
from gelu_verify.formats import Format, buckets, is_finite, is_nan, is_negative, is_zero, ordinals
from gelu_verify.functions import Function
from gelu_verify.functions.regions import region_edges
from gelu_verify.inputs.special import fixed_bits


@dataclass(frozen=True)
class Seen:
    """An outcome with errors below the noise counted as 0, what is scored, and |E| (-1 where it is not)."""

    x: np.ndarray
    got: np.ndarray
    want: np.ndarray
    error: np.ndarray
    faithful: np.ndarray
    scored: np.ndarray
    absolute: np.ndarray

    @classmethod
    def of(cls, outcome: Outcome) -> Seen:
        error = np.where(np.abs(outcome.error) < NOISE, 0.0, outcome.error)
        scored = np.isfinite(error)
        absolute = np.where(scored, np.abs(error), -1.0)
        return cls(outcome.x, outcome.got, outcome.want, error, outcome.faithful, scored, absolute)

    @property
    def witness(self) -> Columns:
        return dict(zip(WITNESS, (self.x, self.got, self.want), strict=True))


def reduce(fmt: Format, function: Function, pieces: MonotonePieces, outcome: Outcome) -> Table:
    """The table of one chunk."""
    seen = Seen.of(outcome)
    x, got, want, scored, absolute = seen.x, seen.got, seen.want, seen.scored, seen.absolute
    x_ord, got_ord = ordinals(fmt, x), ordinals(fmt, got)
    bucket = buckets(fmt, x)
    starts = starts_of(bucket)
    rows = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(x)))
    flags = _flags(fmt, x, got, want, seen.error)
    flags["rises"] = np.zeros(len(x), dtype=bool)
    flags["rises"][1:] = pieces.violated(x_ord[:-1], x_ord[1:], got_ord[:-1], got_ord[1:])
    signed = np.clip(np.where(scored, seen.error, 0.0), -SUM_CLIP, SUM_CLIP)
    sums = {
        "n": np.ones(len(x), dtype=np.uint32),
        "error_sum": np.rint(signed * SUM_SCALE).astype(np.int64),
        "correct": _correct(fmt, function, got, want),
        "faithful": seen.faithful,
        "bits_hash": _hash(fmt, x, got, want),
        "zero_sign": _zero_sign(fmt, function, x, got, want),
    }
    columns: Columns = {"bucket": bucket[starts]}
    columns |= {name: over(np.add, sums[name], starts, kind) for name, kind in SUMS.items()}
    columns |= worst_of(absolute, starts, rows, seen.witness)
    for name, flag in flags.items():
        columns |= nearest_of(fmt, name, columns["bucket"], flag, x, starts)
    return Table(
        fmt,
        columns,
        _histogram(absolute, scored, rows, len(starts)),
        _regions(fmt, x_ord, absolute, seen.witness),
        np.array([[x_ord[0], got_ord[0], x_ord[-1], got_ord[-1]]], dtype=np.int64),
        _samples(fmt, function, seen, x_ord),
        _facts(fmt, function, seen, flags, x_ord, got_ord),
    )


def _correct(fmt: Format, function: Function, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The same bits; any NaN for NaN; either zero for zero where the function has either."""
    same = (got == want) | (is_nan(fmt, got) & is_nan(fmt, want))
    return same | (is_zero(fmt, got) & is_zero(fmt, want)) if function.either_zero else same


def _zero_sign(fmt: Format, function: Function, x: np.ndarray, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Zeros of the wrong sign, for finite x."""
    zeros = is_zero(fmt, got) & is_zero(fmt, want) & (got != want)
    return zeros & is_finite(fmt, x) & (not function.either_zero)


def _hash(fmt: Format, x: np.ndarray, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """What each result adds to the hash of its bucket (src/buckets/hash.h)."""
    any_nan = fmt.uint.type(fmt.sign_mask - 1)
    one, other = (np.where(is_nan(fmt, bits), any_nan, bits).astype(np.uint64) for bits in (got, want))
    golden, place = np.uint64(0x9E3779B97F4A7C15), x.astype(np.uint64)
    with np.errstate(over="ignore"):
        within = _mixed((place % np.uint64(256) + np.uint64(1)) * golden) >> np.uint64(32) | np.uint64(1)
        of_block = _mixed(~(place // np.uint64(256)) * golden) | np.uint64(1)
        difference = _mixed(one ^ other) if fmt.width > 32 else one ^ other
        return difference * within * of_block


def _mixed(z: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64."""
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def _flags(fmt: Format, x: np.ndarray, got: np.ndarray, want: np.ndarray, error: np.ndarray) -> dict[str, np.ndarray]:
    got_zero, got_nan, want_nan = is_zero(fmt, got), is_nan(fmt, got), is_nan(fmt, want)
    finite = is_finite(fmt, got)
    return {
        "nonfinite": is_finite(fmt, x) & np.isinf(error) & ~(finite & is_finite(fmt, want)),
        "wrong_sign": (is_negative(fmt, got) != is_negative(fmt, want)) & ~(got_zero | got_nan | want_nan),
        "zero_lost": got_zero & ~is_zero(fmt, want) & ~want_nan,
    }


def _bin_of_half_octave() -> np.ndarray:
    """Histogram bin of every (value of k << 51 as a double, of k+1 << 51]; the last entry is that of zero."""
    with np.errstate(invalid="ignore"):
        upper = (np.arange(1, 4097, dtype=np.int64) << 51).view(np.float64)
    bins = np.searchsorted(np.array(HIST_EDGES), np.where(np.isnan(upper), np.inf, upper))
    return np.append(np.minimum(bins, len(HIST_EDGES) - 1), 0).astype(np.int64)


_BINS = _bin_of_half_octave()


def _histogram(absolute: np.ndarray, scored: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    single = len(rows) == count
    if not scored.all():
        absolute, rows = absolute[scored], rows[scored]
    bins = _BINS[(absolute.view(np.int64) - 1) >> 51]
    if single:
        histogram = np.zeros((len(HIST_EDGES), count), dtype=np.uint32)
        histogram[bins, rows] = 1
        return histogram
    cell = bins * count + rows
    return np.bincount(cell, minlength=len(HIST_EDGES) * count).astype(np.uint32).reshape(len(HIST_EDGES), count)


def _regions(fmt: Format, x_ord: np.ndarray, absolute: np.ndarray, bits: Columns) -> Columns:
    ends = np.searchsorted(x_ord, region_edges(fmt.name))
    hit = np.flatnonzero(np.diff(ends))
    inside = slice(ends[0], ends[-1])
    starts = ends[:-1][hit] - ends[0]
    sizes = np.diff(ends)[hit]
    columns: Columns = {"region": hit.astype(np.uint8), "n": sizes.astype(np.int64)}
    if not len(hit):
        empty = {name: np.zeros(0, dtype=np.uint64) for name in WITNESS}
        return {**columns, "max_error": np.zeros(0), **empty}
    rows = np.repeat(np.arange(len(hit)), sizes)
    return columns | worst_of(absolute[inside], starts, rows, {name: column[inside] for name, column in bits.items()})


def _samples(fmt: Format, function: Function, seen: Seen, x_ord: np.ndarray) -> np.ndarray:
    """(x, got) bits of the fixed inputs in this chunk, by bits of x."""
    fixed = fixed_bits(function.name, fmt.name)
    wanted = ordinals(fmt, fixed)
    place = np.minimum(np.searchsorted(x_ord, wanted), len(x_ord) - 1)
    hit = x_ord[place] == wanted
    found = np.stack([fixed[hit], seen.got[place[hit]]], axis=1).astype(np.uint64)
    return found[np.argsort(found[:, 0])]


def _facts(
    fmt: Format,
    function: Function,
    seen: Seen,
    flags: dict[str, np.ndarray],
    x_ord: np.ndarray,
    got_ord: np.ndarray,
) -> Facts:
    found: dict[str, Any] = {}
    want_ord = ordinals(fmt, seen.want)
    rank, want_rank = got_ord + (got_ord < 0), want_ord + (want_ord < 0)
    distance = np.where(rank > want_rank, rank - want_rank, want_rank - rank).view(np.uint64)
    if seen.scored.any():
        found["max_rank"] = int(distance[seen.scored].max())
    finite = np.flatnonzero(is_finite(fmt, seen.got))
    if len(finite):
        low, high = finite[np.argmin(got_ord[finite])], finite[np.argmax(got_ord[finite])]
        found["lowest_got"] = int(got_ord[low]), int(x_ord[low])
        found["highest_got"] = -int(got_ord[high]), int(x_ord[high])
    size = np.abs(x_ord + (x_ord < 0))
    marked = {name: flags[name] for name in ("nonfinite", "wrong_sign", "rises")}
    marked["zero_sign"] = _zero_sign(fmt, function, seen.x, seen.got, seen.want) & ~is_zero(fmt, seen.x)
    marked["zero_from"] = flags["zero_lost"] & (x_ord <= _tail_end(function, fmt))
    magnitude, quiet = fmt.uint.type(fmt.sign_mask - 1), fmt.uint.type(1 << (fmt.precision - 2))
    x_quiet, got_quiet = ((bits & magnitude & quiet) > 0 for bits in (seen.x, seen.got))
    x_nan, got_nan = is_nan(fmt, seen.x), is_nan(fmt, seen.got)
    marked["nan_wrong"] = x_nan & (~got_nan | (x_quiet & ~got_quiet))
    if function.at_most_x:
        marked["beyond_x"] = (np.abs(rank) > size) & seen.scored
    for name, flag in marked.items():
        places = np.flatnonzero(flag)
        if len(places):
            first = places[np.argmin(size[places])]
            found[name] = int(size[first]), int(x_ord[first]), int(seen.got[first])
            if name == "rises":
                found[name] += int(x_ord[first - 1]), int(seen.got[first - 1])
    return Facts(**found)


def _tail_end(function: Function, fmt: Format) -> int:
    """Ordinal of -1, or of the first turning point where that is lower: a zero right of it is not the tail's."""
    turns = [Fraction(text) for text in (function.turning_points or ())[:1]]
    return fmt.ordinal(fmt.round(min([Fraction(-1), *turns]), "down"))
