"""All outputs of an implementation to finite inputs, judged by arithmetic that the product does not use.

The exact value is the correctly rounded one of float64, which is known to 2^-53: an error comes from it by a
subtraction and a division. Kept one by one are the wrong outputs that are not within KEPT ULP, zeros, or nearly
subnormal; of the others there are the largest error and what is lost in each bucket, so that 2^32 outputs fit into
memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from gelu_verify.formats import Format, buckets, from_ordinals, get_format, is_finite, is_nan, is_zero, to_float64
from gelu_verify.truth.values import judge, reference_bits

KEPT = 3.99  # ULP


@dataclass(frozen=True)
class Outputs:
    """
    Parameters
    ----------
    x, got : bits of the outputs that are kept, by ascending x
    y, error : the exact values, and the errors in ULP; inf where one of got and y is finite, or NaN, and the other not
    rest, rest_x : the largest error of all others, and the input that has it
    is_correct : every output is the correctly rounded one, or the other zero
    signs : zeros that are the other one
    lost : of the outputs of each bucket together, the bits that are wrong (0 where the error is half an ULP)
    """

    function: str
    fmt: Format
    x: np.ndarray
    got: np.ndarray
    y: np.ndarray
    error: np.ndarray
    rest: float
    rest_x: int
    is_correct: bool
    signs: int
    lost: np.ndarray

    @classmethod
    def of(cls, function: str, dtype: str, x: np.ndarray, got: np.ndarray) -> Outputs:
        """Of finite inputs (bits) in any order; all that are not among them have the correctly rounded output."""
        fmt = get_format(dtype)
        want = reference_bits(function, dtype, x)
        signs = (got != want) & is_zero(fmt, got) & is_zero(fmt, want)
        same = (got == want) | (is_nan(fmt, got) & is_nan(fmt, want)) | signs
        x, got = x[~same], got[~same]
        y, error = errors(function, fmt, x, got)
        bits = np.clip(np.log2(2 * np.maximum(np.minimum(error, 1e300), 0.5)), 0, fmt.precision)
        lost = np.bincount(buckets(fmt, x), bits, 1 << 16)
        small = np.minimum(np.abs(y), np.abs(to_float64(fmt, x))) <= 2.0 ** (fmt.emin + 4)  # and beside these
        keep = (error > KEPT) | (to_float64(fmt, got) == 0) | small
        kept = np.flatnonzero(keep)
        kept = kept[np.argsort(to_float64(fmt, x[kept]), kind="stable")]
        rest = np.where(keep, -1.0, error)
        worst = int(np.argmax(rest)) if len(rest) else -1
        return cls(
            function, fmt, x[kept], got[kept], y[kept], error[kept], max(float(rest[worst]), 0.0) if len(rest) else 0.0,
            int(x[worst]) if len(rest) else 0, not len(x), int(signs.sum()), lost,
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: Iterable[Outputs]) -> Outputs:
        """Of parts by ascending x."""
        each = list(parts)
        worst = max(each, key=lambda part: part.rest)
        arrays = (np.concatenate([getattr(part, name) for part in each]) for name in ("x", "got", "y", "error"))
        sums = sum(part.signs for part in each), np.sum([part.lost for part in each], axis=0)
        is_correct = all(part.is_correct for part in each)
        return cls(each[0].function, each[0].fmt, *arrays, worst.rest, worst.rest_x, is_correct, *sums)

    def mean_bits(self) -> float:
        """Bits that are right on average for x ~ N(0,1)."""
        weight, count = normal_weights(self.fmt.name), 2.0 ** max(self.fmt.width - 16, 0)
        return float(self.fmt.precision - (self.lost / count * weight).sum() / weight.sum())


def errors(function: str, fmt: Format, x: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(exact values, errors in ULP) of outputs; a value that overflows is 2^(emax + 1)."""
    wide = to_float64(fmt, x).view(np.uint64)
    bits, value = np.array(reference_bits(function, "float64", wide)), to_float64(fmt, got)
    y = bits.view(np.float64)
    above = judge(function, "float64", wide, bits).error  # of y: beside a power of two it decides the binade
    y = np.where((np.abs(np.frexp(y)[0]) == 0.5) & (above * np.sign(y) > 0), np.nextafter(y, 0), y)
    over = np.isfinite(y) & ~is_finite(fmt, reference_bits(function, fmt.name, x))
    y = np.where(over, np.copysign(np.ldexp(1.0, fmt.emax + 1), y), y)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = np.abs(value - y) / np.where(over, np.ldexp(1.0, fmt.emax - fmt.precision + 1), ulps(fmt, y))
    right = over & np.isinf(value) & (np.sign(value) == np.sign(y))
    error = np.where(right, 0.0, error)
    unlike = (np.isfinite(value) != np.isfinite(y)) & ~right
    unlike |= ~np.isfinite(value) & ~(value == y) & ~(np.isnan(value) & np.isnan(y))
    return y, np.where(unlike, np.inf, np.where(np.isfinite(y), error, 0.0))


def ulps(fmt: Format, y: np.ndarray) -> np.ndarray:
    """u(y) = 2^(max(floor(log2 |y|), emin) - p + 1)."""
    _, exponent = np.frexp(np.where(np.isfinite(y), y, 1.0))
    least = np.where(y == 0, fmt.emin, np.maximum(exponent - 1, fmt.emin))
    return np.ldexp(1.0, np.asarray(least - fmt.precision + 1))


@cache
def normal_weights(dtype: str) -> np.ndarray:
    """Probability of each bucket where x ~ N(0,1)."""
    fmt = get_format(dtype)
    shift = fmt.width - 16
    edges = np.arange(0, 0x8001, dtype=np.int64) << shift if shift >= 0 else np.arange(0, 0x8001) >> -shift
    value = to_float64(fmt, np.minimum(edges, fmt.infinity).astype(fmt.uint))
    tail = np.array([math.erfc(edge / math.sqrt(2)) / 2 for edge in value])
    return np.concatenate([(tail[:-1] - tail[1:])[::-1], tail[:-1] - tail[1:]])


def exhaustive(function: str, dtype: str, answer: Callable[[np.ndarray], np.ndarray], chunk: int = 1 << 22) -> Outputs:
    """All outputs of `answer`, bits to bits."""
    fmt = get_format(dtype)
    ends = range(-fmt.infinity, fmt.infinity, chunk)
    parts = (from_ordinals(fmt, np.arange(first, min(first + chunk, fmt.infinity))) for first in ends)
    return Outputs.joined(Outputs.of(function, dtype, x, answer(x)) for x in parts)
