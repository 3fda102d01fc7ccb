"""What the error of each bucket counts for in a grade: the worst output of its inputs, and how many are above 4 ULP.

Every number here can only shrink when outputs move nearer to the truth: it is a function of the bucket, and of the
largest error or of a count in it. Which input is the worst one must not matter, so what depends on the size of y is
taken from the ends of the bucket, where that is needed (`_ends`), and not from the worst input.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..buckets.table import HIST_EDGES, LARGEST, Columns, Table, bucket_inputs
from ..formats import Format, from_ordinals, to_float64
from ..functions import Function
from ..truth.values import reference_bits
from .parts import Bound

ACCURATE = 4.0  # ULP: the most that vendors state for these functions in their best modes (CUDA erfc 4, ARM vector 3.5)
ROOT_UNIT = 0.125  # near a root errors count in ulps of this: the binade of 0.17, that of the gelus' least value
UNITS = 8.0  # of u(max(1, |y|)): what x (1 + erf)/2 and its relatives lose where erf is good to an ULP


@dataclass(frozen=True)
class Output:
    """An output, and its error in ULP."""

    x_bits: int
    got_bits: int
    want_bits: int
    error: float


@dataclass(frozen=True)
class BucketErrors:
    """Of the finite inputs of a table: a row for each bucket that has some, by ascending x."""

    fmt: Format
    function: Function
    columns: Columns
    hist: np.ndarray
    whole: np.ndarray  # every input of the bucket was tried
    flushing_counts: bool = False  # subnormal numbers are as others

    @classmethod
    def of(cls, table: Table, function: Function) -> BucketErrors:
        last = bucket_of(table.fmt, table.fmt.max_finite)
        bucket = table.columns["bucket"].astype(np.int64)
        rows = slice(*np.searchsorted(bucket, [0xFFFF - last, last + 1]).tolist())
        columns = {name: column[rows] for name, column in table.columns.items()}
        return cls(table.fmt, function, columns, table.hist[:, rows], table.whole[rows])

    # ---- the worst output of each bucket ----

    @cached_property
    def error(self) -> np.ndarray:
        """The largest error in ULP; NaN where nothing was scored."""
        return self.columns["max_error"]

    @cached_property
    def x(self) -> np.ndarray:
        return np.asarray(self.columns["max_error_x"].astype(self.fmt.uint))

    @cached_property
    def got(self) -> np.ndarray:
        return np.asarray(self.columns["max_error_got"].astype(self.fmt.uint))

    @cached_property
    def want(self) -> np.ndarray:
        return np.asarray(self.columns["max_error_want"].astype(self.fmt.uint))

    def output(self, row: int) -> Output:
        return Output(int(self.x[row]), int(self.got[row]), int(self.want[row]), float(self.error[row]))

    # ---- what it counts for ----

    @cached_property
    def lost(self) -> np.ndarray:
        """Subnormal numbers that are no better than if they were flushed to zero: a convention, told apart.

        Whether an output is that zero or nearer to the truth makes no difference: the largest error of the bucket
        must be no larger than the largest |y| in it. A faithful output is not lost: it is beside y.
        """
        fmt, least_normal = self.fmt, self._least_normal
        if self.flushing_counts:
            return np.zeros(len(self.error), bool)
        small = (_magnitude(fmt, self.want) <= least_normal) & (_magnitude(fmt, self.want) > 0)
        is_input = self._is_subnormal_input
        unfaithful = (self.columns["faithful"] < self.columns["n"]) & (self.error >= 1)
        rows = np.flatnonzero((small | is_input) & unfaithful)
        found = np.zeros(len(small), bool)
        if len(rows):
            size = np.max([self._in_ulps(bits, is_input[rows]) for bits in self._ends(rows)], axis=0)
            found[rows] = self.error[rows] <= size + 0.5
        return found

    def largest_normal(self, rows: np.ndarray) -> float:
        """The largest |y| of rows of subnormal results that have normal ones beside them; 0 where none has."""
        rows = rows[~self._is_subnormal_input[rows]]
        ends = np.concatenate([_magnitude(self.fmt, bits) for bits in self._ends(rows)])
        return float(to_float64(self.fmt, ends[ends > self._least_normal]).max(initial=0.0))

    @cached_property
    def _is_subnormal_input(self) -> np.ndarray:
        """Rows of subnormal inputs, where these count as lost."""
        if not self.function.is_zero_at_zero:
            return np.zeros(len(self.error), bool)
        return np.asarray(_magnitude(self.fmt, self._bits_at(np.arange(len(self.error)))[0]) < self._least_normal)

    @property
    def _least_normal(self) -> Any:
        return self.fmt.uint.type(1 << (self.fmt.precision - 1))

    def _in_ulps(self, y: np.ndarray, is_input: np.ndarray) -> np.ndarray:
        """|y| in its ulp: the error of a zero; of normal results of subnormal inputs too, not of others."""
        fmt = self.fmt
        size = np.abs(to_float64(fmt, y)) / 2.0 ** (exponents(fmt, y) - fmt.precision + 1.0)
        return np.asarray(np.where(is_input, size, np.minimum(size, 2.0 ** (fmt.precision - 1))))

    @cached_property
    def counted(self) -> np.ndarray:
        """Rows whose largest error counts."""
        return np.asarray(~np.isnan(self.error) & ~self.lost)

    @cached_property
    def near_root(self) -> np.ndarray:
        """The errors, those near a root of the function in ulps of ROOT_UNIT; 0 where none counts."""
        found = np.where(self.counted, self.error, 0.0)
        root = float(self.function.landmarks.get("root", "nan"))
        first = to_float64(self.fmt, self._bits_at(np.arange(len(found)))[0])
        with np.errstate(over="ignore"):
            rows = np.flatnonzero((np.abs(first - root) <= abs(root) / 2) & (found > 0))
        if len(rows):
            excess = self._least_exponent(rows) - (np.frexp(ROOT_UNIT)[1] - 1.0)
            found[rows] *= 2.0 ** np.minimum(excess, 0)
        return found

    @cached_property
    def above(self) -> np.ndarray:
        """How many outputs of each bucket are above 4 ULP, or not finite where they should be."""
        over = self.hist[np.array(HIST_EDGES) > ACCURATE].sum(axis=0, dtype=np.int64)
        return np.where(self.near_root > ACCURATE, over, 0) + self.columns["nonfinite"].astype(np.int64)

    @cached_property
    def size(self) -> np.ndarray:
        """|got - y| of each worst output: its error in ULP times the ulp of y."""
        fmt = self.fmt
        ulp = 2.0 ** (exponents(fmt, self.want) - fmt.precision + 1.0)
        is_power = np.abs(np.frexp(to_float64(fmt, self.want))[0]) == 0.5
        with np.errstate(over="ignore", invalid="ignore"):  # infinities, and errors beyond any
            rounded = np.abs(to_float64(fmt, self.got) - to_float64(fmt, self.want))
            whole, half = self.error * ulp, self.error * ulp / 2  # y may lie in the binade below that of its rounding
            size = np.where(is_power & (np.abs(half - rounded) < np.abs(whole - rounded)), half, whole)
        return np.minimum(size, LARGEST)

    @cached_property
    def units(self) -> np.ndarray:
        """The same in units of u(max(1, |y|)); 0 where none counts."""
        unit = 2.0 ** (np.maximum(exponents(self.fmt, self.want), 0) - self.fmt.precision + 1.0)
        return np.where(self.counted, self.size / unit, 0.0)

    def beyond(self, limit: float) -> np.ndarray:
        """Rows whose absolute error is above so many units wherever in its bucket the largest error in ULP is."""
        found = self.units > limit
        rows = np.flatnonzero(found & (self.units <= 2 * limit) & (_magnitude(self.fmt, self.want) < self.fmt.one))
        if len(rows) and self.fmt.width > 16:
            less = np.minimum(self._least_exponent(rows) - exponents(self.fmt, self.want[rows]), 0)
            found[rows] = self.units[rows] * 2.0**less > limit
        return found

    def bound(self, size: np.ndarray, rows: np.ndarray, most: int, scale: float = 1.0) -> Bound:
        """Whether the largest `size` of the worst outputs of those rows is that of all inputs, "=", or may be less.

        A size is the error in ULP times 2^min(exponent of y, most), times `scale`. Elsewhere in a bucket the exponent
        may be larger, so that the output with the largest error in ULP is not the one farthest from the truth.
        """
        finite = 2 * bucket_of(self.fmt, self.fmt.max_finite) - 0xFFFE
        if len(self.whole) < finite or not self.whole.all():
            return ">="
        if self.fmt.width <= 16:
            return "="
        largest = size[rows].max(initial=0.0)
        near = rows[size[rows] >= largest / 4]
        exponent = np.maximum.reduce([exponents(self.fmt, bits) for bits in (*self._ends(near), self.want[near])])
        with np.errstate(over="ignore"):
            return "=" if (self.error[near] * scale * 2.0 ** np.minimum(exponent, most) <= largest).all() else ">="

    # ---- y at the ends of buckets ----

    def _bits_at(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inputs at both ends of buckets."""
        return bucket_ends(self.fmt, self.columns["bucket"][rows])

    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The correctly rounded results there."""
        if self.fmt.width <= 16:
            return self.want[rows], self.want[rows]
        first, last = (reference_bits(self.function.name, self.fmt.name, bits) for bits in self._bits_at(rows))
        return first, last

    def _least_exponent(self, rows: np.ndarray) -> np.ndarray:
        """Of y in each bucket; that of the worst output where y spans more than two binades, as at a root."""
        both = [exponents(self.fmt, bits) for bits in self._ends(rows)]
        least, most = np.minimum(*both), np.maximum(*both)
        signs = [to_float64(self.fmt, bits) > 0 for bits in self._ends(rows)]
        is_narrow = (most - least <= 1) & (signs[0] == signs[1])
        return np.where(is_narrow, least, exponents(self.fmt, self.want[rows]))


def bucket_of(fmt: Format, bits: int) -> int:
    """Number of the bucket of an input."""
    return int((fmt.ordinal(bits) << 16 >> fmt.width) + 0x8000)


def bucket_ends(fmt: Format, bucket: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last input of buckets, by ordinal (bits)."""
    count = bucket_inputs(fmt)
    first = (bucket.astype(np.int64) - 0x8000) * count
    if fmt.width < 16:
        first >>= 16 - fmt.width
    return from_ordinals(fmt, first), from_ordinals(fmt, first + count - 1)


def exponents(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """floor(log2 |value|), at least that of the least normal number; that of the largest for an infinity."""
    values = to_float64(fmt, bits)
    _, exponent = np.frexp(values)
    found = np.where(values == 0, fmt.emin, np.maximum(exponent - 1, fmt.emin))
    return np.where(np.isinf(values), -fmt.emin + 1, found)


def _magnitude(fmt: Format, bits: np.ndarray) -> np.ndarray:
    return np.asarray(bits & fmt.uint.type(fmt.sign_mask - 1))
