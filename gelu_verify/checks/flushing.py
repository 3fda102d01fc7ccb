"""Whether an implementation flushes subnormal numbers to zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..buckets.flushing import flushed, is_subnormal
from ..formats import is_finite, is_zero
from ..inputs.special import tiny_bits

if TYPE_CHECKING:
    from .base import Evidence


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
        return int(x[worst]), int(got[worst]), int(want[worst])
    if evidence.function.has_pole_at_zero:
        return _at_pole(evidence)
    tail = evidence.witness("zero_from")
    if tail is None:
        return None
    x, got = (np.array([bits], dtype=fmt.uint) for bits in tail)
    want, _ = evidence.judge(x, got)
    half_of_least_normal = 1 << (fmt.precision - 2)
    is_large = fmt.magnitude(int(want[0])) >= half_of_least_normal
    return (*tail, int(want[0])) if is_large and is_subnormal(fmt, want)[0] else None


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
