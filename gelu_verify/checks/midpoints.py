"""Where the exact result lies in its interval between two numbers, and which end was given: what shows a rounding.

`Ends` are of ordinary results. `half_of_tiny` looks at x/2 for odd subnormal x, which arithmetic in the dtype, or in a
wider one, finds to be a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import distinct
from ..formats import Format, is_negative
from .dense import Dense

if TYPE_CHECKING:
    from .base import Evidence

CORE = -1.0  # left of it the formulas in use cancel, and lose more than a rounding
NEAR = 5  # half units from k/2: several roundings of one direction
TIES = 64  # odd subnormal inputs of each sign


@dataclass(frozen=True)
class Ends:
    """Of results that must be rounded: in units of u(y), and away from zero where positive."""

    error: np.ndarray  # got - y, by magnitude
    negative: np.ndarray  # the sign of y
    odd: np.ndarray  # the last bit of got
    large: np.ndarray  # whether the significand of y is in the upper half of its binade

    @classmethod
    def of(cls, dense: Dense, left: float = CORE) -> Ends:
        fmt, at = dense.fmt, np.flatnonzero(dense.ordinary & (dense.value >= left) & (dense.error != 0))
        want, negative = dense.want[at], is_negative(fmt, dense.want[at])
        last, second = (fmt.uint.type(1), fmt.uint.type(1 << (fmt.precision - 2)))
        return cls(np.where(negative, -1, 1) * dense.error[at], negative, dense.got[at] & last != 0, want & second != 0)

    @property
    def share(self) -> np.ndarray:
        """How far y lies from the number below it to the one above it, 0 to 1, where |E| < 1."""
        return np.where(self.error > 0, 1 - self.error, -self.error)

    def where(self, keep: np.ndarray) -> Ends:
        return Ends(self.error[keep], self.negative[keep], self.odd[keep], self.large[keep])


def half_of_tiny(evidence: Evidence) -> tuple[np.ndarray, np.ndarray] | None:
    """(k, got), integers: for inputs of k units of the least number, k odd, the results in that unit, both signs;
    None where f is not x/2 there, or a result is none of the numbers about k/2 (subnormals are flushed)."""
    fmt, function = evidence.fmt, evidence.function
    if function.slope_at_zero is None or Fraction(function.slope_at_zero) != Fraction(1, 2):
        return None
    magnitudes = _odd(fmt)
    x = np.concatenate([magnitudes, magnitudes | fmt.uint.type(fmt.sign_mask)])
    got = evidence.call(x)
    if (is_negative(fmt, got) != is_negative(fmt, x)).any():
        return None
    sign, magnitude = np.where(is_negative(fmt, x), -1, 1), fmt.uint.type(fmt.sign_mask - 1)
    k, half = sign * (x & magnitude).astype(np.int64), sign * (got & magnitude).astype(np.int64)
    return (k, half) if (np.abs(2 * half - k) <= NEAR).all() else None


def _odd(fmt: Format) -> np.ndarray:
    """Odd subnormal numbers from 3 units on, all of few or evenly by value."""
    top = 1 << (fmt.precision - 1)
    return distinct(np.linspace(3, top - 1, TIES).astype(np.int64) | 1).astype(fmt.uint)
