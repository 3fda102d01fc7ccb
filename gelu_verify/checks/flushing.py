"""Whether an implementation flushes subnormal numbers to zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import distinct
from ..buckets.flushing import flushed, is_subnormal
from ..errors import Unanswered
from ..formats import from_ordinals, is_finite, is_zero, to_float64
from ..inputs.special import both_signs, tiny_bits
from ..truth.values import zero_threshold

if TYPE_CHECKING:
    from .base import Evidence

INPUTS, RESULTS = "inputs", "results"
TRIED = 256  # numbers, of either sign
NORMAL = 16.0  # times the least normal number, up to which a result is beside it


def flushes(evidence: Evidence) -> tuple[int, int, int] | None:
    """(x, got, want) bits of an input whose subnormal result, or that is itself, flushed to zero; None if none is.

    Near zero where f(0) = 0; at a pole there, where all subnormal inputs give the infinity of zero. Else in the tail,
    where the largest subnormal results are lost and no normal one is: an overflow inside may end a tail among the
    smaller ones.
    """
    fmt = evidence.fmt
    if evidence.function.is_zero_at_zero:
        x = np.array(tiny_bits(fmt), dtype=fmt.uint)
        got, want, error = evidence.judged(x)
        lost = is_zero(fmt, got) & (np.abs(error) > 1.5)  # zero is beside the least number
        bad, small = np.flatnonzero(lost & flushed(fmt, x, got, want)), is_subnormal(fmt, x)
        results, largest = bad[~small[bad]], (x & fmt.uint.type(fmt.sign_mask - 1)) == (1 << (fmt.precision - 1)) - 1
        if (lost & ~is_subnormal(fmt, want) & ~small).any() or not (len(results) or (lost & largest).any()):
            return None  # a wrong start, or noise
        worst = (results if len(results) else bad)[0]
        further = x[worst] + (np.arange(1, 8) << (fmt.precision - 1)).astype(fmt.uint)  # times 2, 4, ...
        return (int(x[worst]), int(got[worst]), int(want[worst])) if _keeps_normal(evidence, further) else None
    if evidence.function.has_pole_at_zero:
        return _at_pole(evidence)
    tail = evidence.witness("zero_from")
    if tail is None:
        return None
    x, got = (np.array([bits], dtype=fmt.uint) for bits in tail)
    want, _ = evidence.judge(x, got)
    half_of_least_normal = 1 << (fmt.precision - 2)
    is_large = fmt.magnitude(int(want[0])) >= half_of_least_normal and is_subnormal(fmt, want)[0]
    steps = np.arange(1, 1 << (fmt.precision - 1), max((1 << fmt.precision) // TRIED, 1)).astype(fmt.uint)
    nearer = x[0] - steps  # down to half of it
    return (*tail, int(want[0])) if is_large and _keeps_normal(evidence, nearer) else None


def _keeps_normal(evidence: Evidence, x: np.ndarray) -> bool:
    """Whether the least normal results, at some of these inputs, are about right: of another function they are not."""
    fmt = evidence.fmt
    got, want, _ = evidence.judged(x[is_finite(fmt, x)])
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.abs(to_float64(fmt, want)) / float(fmt.fraction(1 << (fmt.precision - 1)))
        ratio = to_float64(fmt, got) / to_float64(fmt, want)
    counted = (size >= 1) & (size < NORMAL)
    return bool(((ratio > 0.5) & (ratio < 2))[counted].all())


def _at_pole(evidence: Evidence) -> tuple[int, int, int] | None:
    fmt = evidence.fmt
    x = np.array(tiny_bits(fmt), dtype=fmt.uint)
    x = x[is_subnormal(fmt, x)]
    got, want, _ = evidence.judged(x)
    counted = is_finite(fmt, want)
    if (got[counted] != fmt.uint.type(evidence.function.limit_bits(fmt, 0))).any():
        return None
    at = int(np.flatnonzero(counted)[0])
    return int(x[at]), int(got[at]), int(want[at])


def kind_of(evidence: Evidence, x_bits: int) -> str:
    """What is flushed where such an input gives a zero."""
    return INPUTS if is_subnormal(evidence.fmt, np.array([x_bits], evidence.fmt.uint))[0] else RESULTS


def flushed_of_tried(evidence: Evidence, x_bits: int) -> tuple[np.ndarray, int]:
    """x of the flushed ones, and of how many: of subnormal inputs where x is one, else of subnormal results.

    Random inputs are called, as far as the target can be; an input that is flushed gives what zero gives.
    """
    fmt, kind, function = evidence.fmt, kind_of(evidence, x_bits), evidence.function
    around_zero = function.is_zero_at_zero or function.has_pole_at_zero
    x = np.array([x_bits, *(tiny_bits(fmt) if around_zero else ())], dtype=fmt.uint)
    try:
        got = evidence.call(more := np.concatenate([x, _random(evidence, x_bits)]))
        x = more
    except Unanswered:
        if not around_zero:
            return x, 1
        x = x[1:]
        got = evidence.probe(x)
    want, _ = evidence.judge(x, got)
    asked = is_subnormal(fmt, x if kind == INPUTS else want) & is_finite(fmt, want) & ~is_zero(fmt, want)
    as_zero = ~is_finite(fmt, got) if function.has_pole_at_zero else is_zero(fmt, got)
    return x[asked & as_zero], int(asked.sum())


def _random(evidence: Evidence, x_bits: int) -> np.ndarray:
    """Inputs of which many are, or have results that are, subnormal: around zero, or along the tail."""
    fmt, rng = evidence.fmt, np.random.default_rng(evidence.plan.seed)
    if evidence.function.is_zero_at_zero or evidence.function.has_pole_at_zero:
        return np.array(both_signs(fmt, {*(1 + rng.integers(0, 3 << (fmt.precision - 1), TRIED)).tolist()}), fmt.uint)
    last = zero_threshold(evidence.function.name, fmt.name)
    if last is None:
        return np.array([x_bits], fmt.uint)
    far, near = fmt.ordinal(last), fmt.ordinal(x_bits)
    return from_ordinals(fmt, distinct(rng.integers(far, 2 * near - far, 2 * TRIED)))
