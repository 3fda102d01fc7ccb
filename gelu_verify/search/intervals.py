"""Intervals of consecutive inputs: sampled, split, and sampled again where the error is largest or jumps.

All open intervals, those that were not split yet, compete within their width: of each width, from the narrowest to the
widest, the one with the largest error is split into SPLIT parts. So a share of the work goes to every scale, and an
interval that is second best at its scale is split later, as in simultaneous optimistic optimisation (Munos, 2011).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from ..arrays import distinct

SPLIT = 16  # parts of an interval
SAMPLES = 256  # inputs drawn from each of them
WHOLE = SPLIT * SAMPLES  # inputs of an interval that is not split but tried as a whole
MOST = 1 << 13  # open intervals of one width that are kept
ROUNDED = 0.5 + 2.0**-20  # ULP: the largest error of a correctly rounded result, and what the judge may be off
COLUMNS = ("first", "last", "error", "jump")


def level(width: np.ndarray) -> np.ndarray:
    """Intervals of one level compete: their widths differ by less than SPLIT."""
    return np.asarray((np.log2(np.maximum(width.astype(float), 1.0)) - 1e-9) // 4).astype(np.int64)


@dataclass
class Intervals:
    """The open intervals.

    `first`, `last`: their ordinals; `error`: the largest that was found in each; `jump`: how much the mean error
    differs from that of the part beside it. The worst of too many are dropped.
    """

    first: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    last: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    error: np.ndarray = field(default_factory=lambda: np.zeros(0))
    jump: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.first)

    def add(self, first: np.ndarray, last: np.ndarray, error: np.ndarray, jump: np.ndarray) -> None:
        """More open intervals."""
        for name, more in zip(COLUMNS, (first, last, error, jump), strict=True):
            setattr(self, name, np.concatenate([getattr(self, name), more]))
        if len(self) > 16 * MOST:
            self._keep(self._best_of_each_level())

    def best(self, by: str, count: int) -> np.ndarray:
        """Indices of up to `count`: of each level the first by that column, then of each the second ...

        Where all results were correctly rounded, more samples of the same places say nothing: left out.
        """
        levels, values = level(self.last - self.first + 1), getattr(self, by)
        worth = self.error > ROUNDED
        columns = []
        for each in distinct(levels[worth]):
            members = np.flatnonzero((levels == each) & worth)
            if len(members) > count:
                members = members[np.sort(np.argpartition(-values[members], count - 1)[:count])]
            columns.append(members[np.argsort(-values[members], kind="stable")].tolist())
        ranked = (column[rank] for rank in range(count) for column in columns if rank < len(column))
        return np.array([index for index, _ in zip(ranked, range(count), strict=False)], np.int64)

    def take(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends of these, which are open no longer."""
        ends = self.first[chosen], self.last[chosen]
        keep = np.ones(len(self), bool)
        keep[chosen] = False
        self._keep(keep)
        return ends

    def notice(self, at: int, error: float, narrowest: int) -> None:
        """An error that was found by other means: where it is news, intervals around it are opened at every level."""
        around = np.flatnonzero((self.first <= at) & (at <= self.last))
        if not len(around) or error <= self.error[around].max():
            return
        first, last = int(self.first[around].max()), int(self.last[around].min())
        self.error[around] = error
        rows = []
        while last - first >= narrowest:
            part = -(-(last - first + 1) // SPLIT)
            first += (at - first) // part * part
            last = min(first + part - 1, last)
            rows.append((first, last))
        if rows:
            ends = np.array(rows, np.int64)
            self.add(ends[:, 0], ends[:, 1], np.full(len(rows), error), np.zeros(len(rows)))

    def _best_of_each_level(self) -> np.ndarray:
        """Of each level the MOST with the largest errors, and an eighth as many with the largest jumps."""
        keep, levels = np.zeros(len(self), bool), level(self.last - self.first + 1)
        for each in distinct(levels):
            members = np.flatnonzero(levels == each)
            for values, most in ((self.error, MOST), (self.jump, MOST // 8)):
                keep[members[np.argsort(-values[members], kind="stable")[:most]]] = True
        return keep

    def _keep(self, which: np.ndarray) -> None:
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[which])


def parts(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """SPLIT parts of each wide interval, the others whole: their ends, and how many inputs of each are drawn."""
    rows = []
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        width = b - a + 1
        if width <= WHOLE:
            rows.append((a, b, width))
            continue
        edges = [a + width * k // SPLIT for k in range(SPLIT + 1)]
        rows += [(low, high - 1, min(SAMPLES, high - low)) for low, high in itertools.pairwise(edges)]
    low, high, count = np.array(rows, np.int64).reshape(-1, 3).T.copy()
    return low, high, count


def jumps(first: np.ndarray, last: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Of each part, how far its mean is from that of a part that it touches: the larger of both differences."""
    touches = first[1:] == last[:-1] + 1
    step = np.where(touches, np.abs(np.diff(mean)), 0.0)
    return np.asarray(np.maximum(np.concatenate([[0.0], step]), np.concatenate([step, [0.0]])))
