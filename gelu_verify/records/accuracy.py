"""How accurate a target is, from its buckets: where it stays within 4 ULP, its absolute error, its bits.

A bucket is as accurate as its worst input. Buckets of the infinities and NaNs are left out: checks look at those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..buckets.flushing import flushed
from ..buckets.reducer import tail_end
from ..buckets.table import HIST_EDGES, LARGEST, Columns, Table
from ..fenv import in_default_environment
from ..formats import Format, get_format, to_float64
from ..functions import Function
from ..truth.values import zero_threshold
from .parts import AbsoluteError, AccurateRange, MeanBits

ACCURATE = 4.0  # ULP: the most that vendors state for these functions in their best modes (CUDA erfc 4, ARM vector 3.5)
BODY = 8.0  # |x| up to which absolute errors are compared: beyond, half an ULP of y = x outgrows all else
ROOT_UNIT = 0.125  # near a root errors count in ulps of this: the binade of 0.17, that of the gelus' least value
_ENOUGH = 0.99  # of N(0,1) that the inputs must cover
_BITS_DIGITS = 3


@dataclass(frozen=True)
class Wrong:
    """A finite output without a correct bit."""

    x_bits: int
    got_bits: int
    want_bits: int


@dataclass(frozen=True)
class Span:
    """Outputs of one kind on one side of zero, where they are wrong."""

    count: int
    x_bits: int  # of the nearest to zero; nothing where there is none
    is_all: bool  # from there outwards every input tried has them, but for others of its own bucket

    @classmethod
    def of(cls, columns: Columns, kind: str, outwards: np.ndarray) -> Span:
        """`outwards`: the rows, from zero on."""
        count, n = columns[kind][outwards], columns["n"][outwards]
        if not count.any():
            return cls(0, 0, True)
        first = int(np.argmax(count > 0))
        x_bits = int(columns[f"{kind}_x"][outwards[first]])
        return cls(int(count.sum(dtype=np.int64)), x_bits, bool((count == n)[first + 1 :].all()))


@dataclass(frozen=True)
class Accuracy:
    """What grades are made of: of all finite inputs of a table, those that are flushed apart."""

    correct: bool  # every output is the correctly rounded value, flushed ones included
    faithful: bool  # every output that is not flushed is one of the two values next to the exact one
    largest_ulp: float | None  # largest error; None where nothing was scored
    largest_near_root: float  # the same, where errors near a root count in ulps of 1/8
    units: float  # largest error in units of u(max(1, |y|))
    range: AccurateRange | None
    absolute: AbsoluteError | None
    bits: MeanBits | None
    wrong: Wrong | None  # the output without a correct bit that is nearest to zero
    nonfinite: tuple[Span, Span]  # NaN and infinities where a number is due, for x < 0 and for x > 0
    zeros: Span  # of the tail, where they are too early

    @classmethod
    def of(cls, table: Table, function: Function, flushes: bool, is_whole: bool) -> Accuracy:
        """
        Parameters
        ----------
        flushes : flushed results are a convention of the target, and not counted
        is_whole : the inputs are from the whole line, not from some ranges of it
        """
        rows = _finite_rows(table)
        columns, hist = {name: column[rows] for name, column in table.columns.items()}, table.hist[:, rows]
        fmt, error = table.fmt, columns["max_error"]
        x, got, want = (columns[f"max_error_{name}"].astype(fmt.uint) for name in ("x", "got", "want"))
        is_flushed = flushed(fmt, x, got, want) & flushes
        counted = ~np.isnan(error) & ~is_flushed
        near_root = _near_root(fmt, function, error, x, want)
        is_accurate = (~counted | (near_root <= ACCURATE)) & (columns["nonfinite"] == 0)
        size = _absolute(fmt, error, got, want)
        unit = 2.0 ** (np.maximum(_exponent(fmt, want), 0) - fmt.precision + 1.0)
        away = np.where(counted, size / unit, 0.0)
        units = min(float(away.max(initial=0.0)), LARGEST)
        bucket = columns["bucket"]
        below, above = np.flatnonzero(bucket < 0x8000)[::-1], np.flatnonzero(bucket >= 0x8000)
        first, end = (_bucket(fmt, bits) for bits in _early_zeros(function, fmt))
        return cls(
            bool((columns["correct"] == columns["n"]).all()),
            bool((is_flushed | (columns["faithful"] == columns["n"])).all()),
            float(error[counted].max()) if counted.any() else None,
            float(near_root[counted].max(initial=0.0)),
            units,
            _range(fmt, columns["bucket"], is_accurate) if is_whole else None,
            _largest(fmt, x, size, counted, units),
            _mean_bits(function, fmt, columns, hist, is_whole),
            _wrong(fmt, x, got, want, away),
            (Span.of(columns, "nonfinite", below), Span.of(columns, "nonfinite", above)),
            Span.of(columns, "zero_lost", below[(bucket[below] <= first) & (bucket[below] > end)]),
        )


def _finite_rows(table: Table) -> np.ndarray:
    """Rows of the buckets of finite numbers."""
    fmt = table.fmt
    last = _bucket(fmt, fmt.max_finite)
    bucket = table.columns["bucket"].astype(np.int64)
    return np.flatnonzero((bucket <= last) & (bucket >= 0xFFFF - last))


def _bucket(fmt: Format, bits: int) -> int:
    return int((fmt.ordinal(bits) << 16 >> fmt.width) + 0x8000)


def _early_zeros(function: Function, fmt: Format) -> tuple[int, int]:
    """Bits of x between which a zero is too early: the end of the tail, and where zeros are right."""
    last = zero_threshold(function.name, fmt.name)
    return fmt.from_ordinal(tail_end(function, fmt)), fmt.max_finite | fmt.sign_mask if last is None else last


def _exponent(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """floor(log2 |value|), at least that of the least normal number; that of the largest for an infinity."""
    values = to_float64(fmt, bits)
    _, exponent = np.frexp(values)
    found = np.where(values == 0, fmt.emin, np.maximum(exponent - 1, fmt.emin))
    return np.where(np.isinf(values), -fmt.emin + 1, found)


def _absolute(fmt: Format, error: np.ndarray, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """|got - y| of each worst output: its error in ULP times the ulp of y."""
    ulp = 2.0 ** (_exponent(fmt, want) - fmt.precision + 1.0)
    is_power = np.abs(np.frexp(to_float64(fmt, want))[0]) == 0.5
    with np.errstate(over="ignore", invalid="ignore"):  # infinities, and errors beyond any
        rounded = np.abs(to_float64(fmt, got) - to_float64(fmt, want))
        whole, half = error * ulp, error * ulp / 2  # y may lie in the binade below that of its rounding
        size = np.where(is_power & (np.abs(half - rounded) < np.abs(whole - rounded)), half, whole)
    return np.minimum(size, LARGEST)


def _near_root(fmt: Format, function: Function, error: np.ndarray, x: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The errors, those near a root of the function in ulps of ROOT_UNIT."""
    root = float(function.landmarks.get("root", "nan"))
    with np.errstate(invalid="ignore"):
        near = np.abs(to_float64(fmt, x) - root) <= abs(root) / 2
    excess = np.minimum(_exponent(fmt, want) - (math.frexp(ROOT_UNIT)[1] - 1.0), 0)
    return np.asarray(np.where(near, error * 2.0**excess, error))


def _range(fmt: Format, bucket: np.ndarray, is_accurate: np.ndarray) -> AccurateRange | None:
    """From zero outwards to the last accurate bucket on either side; None where zero's own is not."""
    first_positive = int(np.searchsorted(bucket, 0x8000))
    above, below = is_accurate[first_positive:], is_accurate[:first_positive][::-1]
    up, down = (len(side) if side.all() else int(np.argmin(side)) for side in (above, below))
    if not up or not down:
        return None
    shift = fmt.width - 16
    ends = int(bucket[first_positive - down]) - 0x8000, int(bucket[first_positive + up - 1]) - 0x8000 + 1
    low, high = (end << shift if shift >= 0 else end >> -shift for end in ends)
    most = fmt.ordinal(fmt.max_finite)
    first, last = (fmt.from_ordinal(end) for end in (max(low, -1 - most), min(high - 1, most)))
    low_value, high_value = float(fmt.fraction(first)), float(fmt.fraction(last))
    return AccurateRange(fmt.bits_text(first), low_value, fmt.bits_text(last), high_value)


def _largest(fmt: Format, x: np.ndarray, size: np.ndarray, counted: np.ndarray, units: float) -> AbsoluteError | None:
    """The largest absolute error of the body; of equal ones, that nearest to zero."""
    values = to_float64(fmt, x)
    inside = np.flatnonzero(counted & (np.abs(values) <= BODY))
    if not len(inside):
        return None
    most = inside[size[inside] == size[inside].max()]
    row = int(most[np.argmin(np.abs(values[most]))])
    return AbsoluteError(float(size[row]), fmt.bits_text(int(x[row])), float(values[row]), units)


def _wrong(fmt: Format, x: np.ndarray, got: np.ndarray, want: np.ndarray, away: np.ndarray) -> Wrong | None:
    """`away`: the errors in units of u(max(1, |y|)), of which an output without a correct bit has 2^(p-2) or more."""
    rows = np.flatnonzero(away > 2.0 ** (fmt.precision - 2))
    if not len(rows):
        return None
    row = int(rows[np.argmin(np.abs(to_float64(fmt, x[rows])))])
    return Wrong(int(x[row]), int(got[row]), int(want[row]))


# ---- bits of accuracy ----------------------------------------------------------------------------


def _mean_bits(function: Function, fmt: Format, columns: Columns, hist: np.ndarray, is_whole: bool) -> MeanBits | None:
    """Correct bits, as the upper edges of a histogram have it: no error above half an ULP is all of the precision."""
    n = hist.sum(axis=0) + columns["nonfinite"].astype(np.float64)  # without the NaNs that are due
    if not n.sum():
        return None
    bits = np.zeros(len(n))  # what is not scored, as NaN, has none
    for each, row in zip(_bits_of_edges(fmt.precision), hist, strict=True):
        if each:
            bits += each * (row / np.maximum(n, 1))
    weights = _normal_weights(fmt.name)
    weight = weights[columns["bucket"]] * (n > 0)
    first, last = (_bucket(fmt, fmt.from_ordinal(end)) for end in function.ordinals(fmt))
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
@in_default_environment
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
