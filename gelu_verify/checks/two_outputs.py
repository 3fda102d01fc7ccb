"""Inputs that had two outputs, both judged: the pair that shows best that they differ, and the largest error of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..formats import Format, differ, is_finite, is_nan, to_float64
from ..functions import Function
from ..records.grades import UNITS
from ..records.parts import Severity

if TYPE_CHECKING:
    from .base import Evidence, Finding


@dataclass(frozen=True)
class TwoOutputs:
    """All of them; `got`, `error` (|E| in ulp; inf where it is not a matter of ulps) and `faithful` have two rows."""

    x: np.ndarray
    got: np.ndarray
    want: np.ndarray
    error: np.ndarray
    faithful: np.ndarray
    at: np.ndarray
    where: list[tuple[str, str]]
    of: np.ndarray  # which entry of `where`

    @classmethod
    def judged(cls, evidence: Evidence) -> TwoOutputs | None:
        """None where no input had two outputs."""
        found = evidence.others.differences
        if not found:
            return None
        x, first, second, at = (np.concatenate([each[k] for each in found]) for k in range(4))
        both = [evidence.judgement(x, got) for got in (first, second)]
        return cls(
            x,
            np.stack([first, second]),
            both[0].want_bits,
            np.stack([_absolute(each.error, each.faithful) for each in both]),
            np.stack([each.faithful for each in both]),
            at,
            [each.where for each in found],
            np.repeat(np.arange(len(found)), [len(each.x) for each in found]),
        )

    def worst(self, fmt: Format) -> int:
        """Index of the pair that is reported: one that is a defect before others, then one that is not faithful, then
        by the larger error."""
        close = ~are_far_apart(fmt, self.x, self.got[0], self.got[1], self.want)
        return int(np.lexsort((-self.error.max(axis=0), self.faithful.all(axis=0), close))[0])

    def places(self, index: int) -> tuple[str, str]:
        """Where the two outputs of a pair were given."""
        first, second = self.where[self.of[index]]
        return first.format(self.at[index]), second.format(self.at[index])


def are_far_apart(fmt: Format, x: np.ndarray, first: np.ndarray, second: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where two outputs differ by more than UNITS of u(max(1, |want|)), or one of them is not finite.

    At an infinity as elsewhere; NaN has no output that another one could be close to.
    """
    finite = np.logical_and.reduce([~is_nan(fmt, x), *(is_finite(fmt, bits) for bits in (first, second, want))])
    one, other, right = (np.where(finite, to_float64(fmt, bits), 0.0) for bits in (first, second, want))
    _, exponent = np.frexp(right)
    with np.errstate(over="ignore"):  # of float64's largest
        far = np.abs(one - other) > UNITS * 2.0 ** (np.maximum(exponent - 1, 0) - fmt.precision + 1.0)
    return np.asarray(np.where(finite, far, differ(fmt, first, second)))


def severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    """Of an input with two outputs: a loss where they are as close as the absolute accuracy that grades ask for, as
    where the vectors of a loop and its remainder use other formulas; else a defect."""
    bits = (finding.x_bits, finding.got_bits, finding.other_bits, finding.want_bits)
    if any(each is None for each in bits):
        return "defect"
    x, got, other, want = (np.array([each], fmt.uint) for each in bits)
    return "defect" if are_far_apart(fmt, x, got, other, want)[0] else "loss"


def _absolute(error: np.ndarray, faithful: np.ndarray) -> np.ndarray:
    """|E|; at inputs that are not finite 0 where the output is the limit, else inf."""
    return np.where(np.isnan(error), np.where(faithful, 0.0, np.inf), np.abs(error))
