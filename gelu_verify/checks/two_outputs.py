"""Inputs that had two outputs, both judged: the pair that shows best that they differ, and the largest error of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.table import LARGEST
from ..formats import Format, is_finite, is_nan, ordinals, to_float64
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
        small = ~np.any([is_far_off(fmt, self.x, got, self.want) for got in self.got], axis=0)
        return int(np.lexsort((-self.error.max(axis=0), self.faithful.all(axis=0), small))[0])

    def places(self, index: int) -> tuple[str, str]:
        """Where the two outputs of a pair were given."""
        first, second = self.where[self.of[index]]
        return first.format(self.at[index]), second.format(self.at[index])

    def largest(self, evidence: Evidence) -> tuple[float, int, int, int] | None:
        """(|E|, x, got, want) of the largest error of all outputs that are scored: finite, to inputs of the plan's
        ranges where it has any."""
        fmt, spans = evidence.fmt, evidence.plan.spans
        error = np.where(is_finite(fmt, self.got) & np.isinf(self.error), LARGEST, self.error)
        counted = np.isfinite(error) & is_finite(fmt, self.x)
        if spans is not None:
            x = ordinals(fmt, self.x)
            counted &= np.any([(x >= first) & (x <= last) for first, last in spans], axis=0)
        if not counted.any():
            return None
        row, at = np.unravel_index(int(np.argmax(np.where(counted, error, -1.0))), error.shape)
        return float(error[row, at]), int(self.x[at]), int(self.got[row, at]), int(self.want[at])


def is_far_off(fmt: Format, x: np.ndarray, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where an output is wrong by more than UNITS of u(max(1, |want|)), or not finite where it should be, or the
    reverse."""
    finite = is_finite(fmt, got) & is_finite(fmt, want) & is_finite(fmt, x)
    values = [np.where(finite, to_float64(fmt, bits), 0.0) for bits in (got, want)]
    _, exponent = np.frexp(values[1])
    far = np.abs(values[0] - values[1]) > UNITS * 2.0 ** (np.maximum(exponent - 1, 0) - fmt.precision + 1.0)
    other = (got != want) & ~(is_nan(fmt, got) & is_nan(fmt, want))
    return np.asarray(np.where(finite, far, other))


def severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    """Of an input with two outputs: a loss where both are about as good as the absolute accuracy that grades ask for,
    as where the vectors of a loop and its remainder use other formulas; else a defect."""
    if finding.x_bits is None or finding.got_bits is None or finding.want_bits is None:
        return "defect"
    x, got, want = (np.array([bits], fmt.uint) for bits in (finding.x_bits, finding.got_bits, finding.want_bits))
    return "defect" if is_far_off(fmt, x, got, want)[0] else "loss"


def _absolute(error: np.ndarray, faithful: np.ndarray) -> np.ndarray:
    """|E|; at inputs that are not finite 0 where the output is the limit, else inf."""
    return np.where(np.isnan(error), np.where(faithful, 0.0, np.inf), np.abs(error))
