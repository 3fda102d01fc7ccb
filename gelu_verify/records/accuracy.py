"""How accurate a target is, from its buckets: where it stays within 4 ULP, its absolute error, its bits.

A bucket is as accurate as its worst input. Buckets of the infinities and NaNs are left out: checks look at those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ..buckets.reducer import tail_end
from ..buckets.table import HIST_EDGES, LARGEST, Table
from ..formats import Format, get_format, to_float64
from ..functions import Function
from ..truth.values import zero_threshold
from .accurate_range import accurate_range
from .beside import joined
from .bucket_errors import ACCURATE, ROOT_UNIT, UNITS, BucketErrors, Output, bucket_ends, bucket_of
from .parts import AbsoluteError, AccurateRange, Beside, Bound, MeanBits

__all__ = ["ACCURATE", "BODY", "LOST", "NEEDED", "ROOT_UNIT", "UNITS", "Accuracy", "Span"]

NEEDED = 0.5  # |x| up to which a range must reach to be worth a grade
LOST = 2.0  # bits that may be lost on average: what errors of 2 ULP everywhere lose
BODY = 8.0  # |x| up to which absolute errors are compared: beyond, half an ULP of y = x outgrows all else
_ENOUGH = 0.99  # of N(0,1) that the inputs must cover
_BITS_DIGITS = 3


@dataclass(frozen=True)
class Span:
    """Outputs of one kind on one side of zero, where they are wrong."""

    count: int
    x_bits: int  # of the nearest to zero; nothing where there is none
    first_bits: int  # from here ...
    last_bits: int  # ... to here, outwards, every input tried has them
    tried: int  # how many those are; 0 where they do not go on so
    is_whole: bool  # every input of the dtype that lies there was tried

    @property
    def is_all(self) -> bool:
        """Whether those are all of them, but for others of the first bucket."""
        return self.tried > 0

    @classmethod
    def of(cls, errors: BucketErrors, kind: str, outwards: np.ndarray) -> Span:
        """`outwards`: the rows, from zero on."""
        columns = errors.columns
        count, n, whole = columns[kind][outwards].astype(np.int64), columns["n"][outwards], errors.whole[outwards]
        if not count.any():
            return cls(0, 0, 0, 0, 0, True)
        first = int(np.argmax(count > 0))
        nearest = int(columns[f"{kind}_x"][outwards[first]])
        bucket = columns["bucket"][outwards].astype(np.int64)
        inner, outer = bucket_ends(errors.fmt, bucket)
        if bucket[first] < 0x8000:
            inner, outer = outer, inner
        full, start = count == n, nearest
        behind = abs(errors.fmt.ordinal(int(outer[first])) - errors.fmt.ordinal(nearest)) + 1
        if not (full[first] or (whole[first] and count[first] == behind)):  # others lie behind the nearest one
            first += 1
            start = int(inner[first]) if first < len(count) else 0
        elif not full[first]:
            full[first] = True
        rest = slice(first, None)
        if first == len(count) or not full[rest].all():
            return cls(int(count.sum()), nearest, 0, 0, 0, False)
        is_whole = bool(whole[rest].all() and (np.abs(np.diff(bucket[rest])) == 1).all())
        return cls(int(count.sum()), nearest, start, int(outer[-1]), int(count[rest].sum()), is_whole)


@dataclass(frozen=True)
class Accuracy:
    """What grades are made of: of all finite inputs of a table, subnormal numbers that are lost apart."""

    precision: int  # of the dtype, in bits
    is_scored: bool  # there are finite inputs: else nothing is known of errors
    incorrect: int  # outputs at finite inputs that are not the correctly rounded value
    faithful: bool  # every error that counts is below 1 ULP
    worst: Output | None  # the largest error that counts
    worst_near_root: Output | None  # the same, where errors near a root count in ulps of 1/8
    largest_near_root: float  # it, in those
    first_above: Output | None  # the error above 4 ULP that is nearest to zero
    beyond_range: Output | None  # the largest error above 4 ULP outside of the range
    lost: (
        Output | None
    )  # the largest error of subnormal numbers that are no better than flushed, where all else is good
    lost_normal: float  # the largest |y| in their buckets that is a normal number, whose error is not known; 0: none
    units: float  # largest error in units of u(max(1, |y|))
    farthest: Output | None  # the output with that
    farthest_size: float  # its |got - y|
    farthest_bound: Bound  # "=": no other input has a larger one
    is_coarse: bool  # it is above 8
    range: AccurateRange | None
    absolute: AbsoluteError | None
    absolute_bound: Bound
    bits: MeanBits | None
    wrong: Output | None  # the finite output without a correct bit that is nearest to zero
    nonfinite: tuple[Span, Span]  # NaN and infinities where a number is due, for x < 0 and for x > 0
    zeros: Span  # of the tail, where they are too early

    @property
    def correct(self) -> bool:
        """Whether every output is the correctly rounded value, of one or more."""
        return self.is_scored and not self.incorrect

    @property
    def is_wide(self) -> bool:
        """Whether its range is worth a grade."""
        return _is_wide(self.range)

    @property
    def loses_bits(self) -> bool:
        """Whether so few bits are right on average that a range says too much."""
        return self.bits is not None and self.bits.normal is not None and self.precision - self.bits.normal > LOST

    @classmethod
    def of(cls, table: Table, function: Function, is_whole: bool, beside: Sequence[Beside] = ()) -> Accuracy:
        """
        Parameters
        ----------
        is_whole : the inputs are from the whole line, not from some ranges of it
        beside : outputs of other calls, which count as the table's do, but for the mean bits
        """
        found = cls.of_errors(joined(table, function, beside), function, is_whole, table)
        return replace(found, bits=_mean_bits(function, BucketErrors.of(table, function), is_whole))

    @classmethod
    def of_errors(cls, table: Table, function: Function, is_whole: bool, plan: Table | None = None) -> Accuracy:
        """As `of`, without the mean bits; only buckets that `plan`, if given, has too can make the range wider."""
        errors, planned = BucketErrors.of(table, function), (plan or table).columns["bucket"]
        found = accurate_range(errors, planned) if is_whole else None
        if errors.above.any() and not _is_wide(found):  # no grade for which subnormal numbers do not count
            errors = replace(errors, flushing_counts=True)
            found = accurate_range(errors, planned) if is_whole else None
        columns, fmt, counted, near = errors.columns, table.fmt, errors.counted, errors.near_root
        error = np.where(counted, errors.error, 0.0)
        units = min(float(errors.units.max(initial=0.0)), LARGEST)
        above, size = np.flatnonzero(near > ACCURATE), np.abs(to_float64(fmt, errors.x))
        wrong = np.flatnonzero(errors.beyond(2.0 ** (fmt.precision - 2)))
        bucket = columns["bucket"].astype(np.int64)
        below, positive = np.flatnonzero(bucket < 0x8000)[::-1], np.flatnonzero(bucket >= 0x8000)
        first, end = (bucket_of(fmt, bits) for bits in _early_zeros(function, fmt))
        worst = _at_most(errors, error, np.flatnonzero(counted))
        lost_rows = _lost(fmt, errors, found, above)
        lost = _at_most(errors, errors.error, lost_rows)
        if worst and lost and lost.error <= ACCURATE and worst.error >= 1:
            worst, lost = max(worst, lost, key=lambda output: output.error), None  # no grade depends on them
        return cls(
            precision=fmt.precision,
            is_scored=bool(len(columns["n"])),
            incorrect=int(columns["n"].sum(dtype=np.int64) - columns["correct"].sum(dtype=np.int64)),
            faithful=bool((errors.lost | (columns["faithful"] == columns["n"]) | (errors.error < 1)).all()),
            worst=worst,
            worst_near_root=_at_most(errors, near, np.flatnonzero(counted)),
            largest_near_root=float(near.max(initial=0.0)),
            first_above=_at_most(errors, -size, above),
            beyond_range=_at_most(errors, error, _outside(fmt, errors, found, above)),
            lost=lost,
            lost_normal=errors.largest_normal(lost_rows),
            units=units,
            farthest=_at_most(errors, errors.units, np.flatnonzero(errors.units > 0)),
            farthest_size=float(errors.size[np.argmax(errors.units)]) if units else 0.0,
            farthest_bound=errors.bound(errors.units, np.flatnonzero(errors.units > 0), 0),
            is_coarse=bool(errors.beyond(UNITS).any()),
            range=found,
            absolute=_largest(errors, units),
            absolute_bound=errors.bound(errors.size, _body(errors), fmt.emax, 2.0 ** (1 - fmt.precision)),
            bits=None,
            wrong=_at_most(errors, -size, wrong),
            nonfinite=(Span.of(errors, "nonfinite", below), Span.of(errors, "nonfinite", positive)),
            zeros=_zeros(errors, below[(bucket[below] <= first) & (bucket[below] >= end)], end),
        )


def _at_most(errors: BucketErrors, size: np.ndarray, rows: np.ndarray) -> Output | None:
    """The worst output of the row where `size` is largest; of equal ones the first."""
    return errors.output(int(rows[np.argmax(size[rows])])) if len(rows) else None


def _outside(fmt: Format, errors: BucketErrors, found: AccurateRange | None, above: np.ndarray) -> np.ndarray:
    """Of the rows `above` 4 ULP, those outside of the range."""
    return above if found is None else above[~_inside(fmt, errors, found)[above]]


def _inside(fmt: Format, errors: BucketErrors, found: AccurateRange) -> np.ndarray:
    low, high = (bucket_of(fmt, int(bits, 16)) for bits in (found.low_bits, found.high_bits))
    bucket = errors.columns["bucket"].astype(np.int64)
    return np.asarray((bucket >= low) & (bucket <= high))


def _lost(fmt: Format, errors: BucketErrors, found: AccurateRange | None, above: np.ndarray) -> np.ndarray:
    """Rows of lost subnormal numbers in the range; everywhere, where nothing else is above 4 ULP."""
    lost = errors.lost
    if len(above) and found is not None:
        lost = lost & _inside(fmt, errors, found)
    return np.flatnonzero(lost)


def _is_wide(found: AccurateRange | None) -> bool:
    return found is not None and found.low <= -NEEDED and found.high >= NEEDED


def _zeros(errors: BucketErrors, outwards: np.ndarray, end: int) -> Span:
    """Of all zeros that are too early; "every input" is asked without the bucket `end`, where they become right."""
    found = Span.of(errors, "zero_lost", outwards)
    before = Span.of(errors, "zero_lost", outwards[errors.columns["bucket"][outwards] > end])
    return replace(before, count=found.count) if before.count else found


def _early_zeros(function: Function, fmt: Format) -> tuple[int, int]:
    """Bits of x between which a zero is too early: the end of the tail, and where zeros are right."""
    last = zero_threshold(function.name, fmt.name)
    return fmt.from_ordinal(tail_end(function, fmt)), fmt.max_finite | fmt.sign_mask if last is None else last


def _largest(errors: BucketErrors, units: float) -> AbsoluteError | None:
    """The largest absolute error of the body; of equal ones, that nearest to zero."""
    fmt, size = errors.fmt, errors.size
    values, inside = to_float64(fmt, errors.x), _body(errors)
    if not len(inside):
        return None
    most = inside[size[inside] == size[inside].max()]
    row = int(most[np.argmin(np.abs(values[most]))])
    return AbsoluteError(float(size[row]), fmt.bits_text(int(errors.x[row])), float(values[row]), units)


def _body(errors: BucketErrors) -> np.ndarray:
    """The rows of the body whose error counts."""
    return np.flatnonzero(errors.counted & (np.abs(to_float64(errors.fmt, errors.x)) <= BODY))


# ---- bits of accuracy ----------------------------------------------------------------------------


def _mean_bits(function: Function, errors: BucketErrors, is_whole: bool) -> MeanBits | None:
    """Correct bits, as the upper edges of a histogram have it: no error above half an ULP is all of the precision."""
    fmt, columns, hist = errors.fmt, errors.columns, errors.hist
    n = hist.sum(axis=0) + columns["nonfinite"].astype(np.float64)  # without the NaNs that are due
    if not n.sum():
        return None
    bits = np.einsum("k,kn->n", _bits_of_edges(fmt.precision), hist) / np.maximum(n, 1)  # unscored, as NaN: none
    weights = _normal_weights(fmt.name)
    weight = weights[columns["bucket"]] * (n > 0)
    first, last = (bucket_of(fmt, fmt.from_ordinal(end)) for end in function.ordinals(fmt))
    is_enough = is_whole and weight.sum() > _ENOUGH * weights[max(first, 0) : last + 1].sum()
    normal = float((bits * weight).sum() / weight.sum()) if is_enough else None
    plan = float((bits * n).sum() / n.sum())
    return MeanBits(round(plan, _BITS_DIGITS), None if normal is None else round(normal, _BITS_DIGITS))


@cache
def _bits_of_edges(precision: int) -> np.ndarray:
    """Correct bits of an error as large as each edge."""
    with np.errstate(divide="ignore"):
        lost = np.log2(2 * np.maximum(HIST_EDGES, 0.5))
        return np.array(np.clip(precision - lost, 0, precision))


@cache
def _normal_weights(dtype: str) -> np.ndarray:
    """Probability of each of the 65,536 buckets where x ~ N(0,1)."""
    fmt = get_format(dtype)
    shift = fmt.width - 16
    first = np.arange(0x8001, dtype=np.int64)
    ordinal = first << shift if shift >= 0 else first >> -shift
    magnitudes = np.minimum(ordinal, fmt.infinity).astype(np.uint64).astype(fmt.uint)
    edges = to_float64(fmt, magnitudes)
    tail = np.array([math.erfc(edge / math.sqrt(2)) / 2 for edge in edges.tolist()])
    positive = tail[:-1] - tail[1:]
    return np.concatenate([positive[::-1], positive])
