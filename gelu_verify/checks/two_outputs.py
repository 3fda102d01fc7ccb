"""Inputs that had two outputs, both judged: the pair that shows best that they differ, and the largest error of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.table import LARGEST
from ..formats import is_finite, ordinals

if TYPE_CHECKING:
    from .base import Evidence


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

    def worst(self) -> int:
        """Index of the pair that is reported: one that is not faithful before others, then by the larger error."""
        return int(np.lexsort((-self.error.max(axis=0), self.faithful.all(axis=0)))[0])

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


def _absolute(error: np.ndarray, faithful: np.ndarray) -> np.ndarray:
    """|E|; at inputs that are not finite 0 where the output is the limit, else inf."""
    return np.where(np.isnan(error), np.where(faithful, 0.0, np.inf), np.abs(error))
