"""What a wrong probability may depend on within a cell: x or P rounded, a bit of x, a period in x.

An error whose mean over each cell is 0, such as that of a table of Phi, moves no count of a cell. So elements are
weighted with a function w of x, |w| <= 1, that follows such an error, and

    S = sum of w(x) (m - p(x)),  m = 1 where an element is kept,  is rejected where it is too far from 0.

Its terms are independent and have the mean 0 and the variance w^2 p q under the hypothesis, so that Bennett's
inequality (1962) bounds its tails, with no assumption on the weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..formats import Format
from .bounds import bennett
from .maps import Map
from .points import PointRow

STEPS = tuple(range(13))  # multiples of 2^-j
SIGNIFICANT = tuple(range(2, 13))  # bits
OF_P = tuple(range(4, 15))
FARTHEST = 6.0
LEAST_SPREAD = 0.01  # of p q, where roundings of p are followed
# waves: x from -8 to 8 in bins, periods 16/k
SPAN, BINS, WAVE_FARTHEST = 16, 1 << 14, 4.0


@dataclass(frozen=True)
class Feature:
    """One sum S; `spread`: of its terms' variances, `size`: of |w|, which bounds what a tolerance of p moves.
    `trials`: so many sums are asked, of which this one is the farthest out."""

    what: str
    total: float
    spread: float
    size: float
    tolerance: float
    trials: int = 1

    @property
    def p_value(self) -> float:
        apart = abs(self.total) - self.size * self.tolerance
        return min(1.0, 2 * self.trials * bennett(apart, self.spread + self.size * self.tolerance))

    def described(self) -> str:
        share = self.total / self.spread if self.spread else 0.0
        return f"kept {self.what} (score {share:+.3g}, p = {self.p_value:.2g})"


@dataclass(frozen=True)
class Weights:
    """w of each feature, [feature, element]."""

    names: tuple[str, ...]
    of: np.ndarray
    squares: np.ndarray
    sizes: np.ndarray


def weights(of: Map, fmt: Format, row: PointRow) -> Weights:
    """Of all features, at these x."""
    found: dict[str, np.ndarray] = {}
    for bit in range(fmt.width):
        on = (row.x_bits >> fmt.uint.type(bit)) & fmt.uint.type(1)
        found[f"more or less often by bit {bit} of x"] = np.where(on != 0, 1.0, -1.0)
    if of.law != "constant":
        slope, near = _slope(of, row.x, row.p, row.q), np.abs(row.x) < FARTHEST
        x = np.where(near, row.x, 0.0)
        for j in STEPS:
            found[f"as if x were rounded to a multiple of 2^-{j}"] = slope * _to_multiple(x, j) * 2.0 ** (j + 1)
        for k in SIGNIFICANT:
            found[f"as if x were rounded to {k} significant bits"] = slope * _to_bits(x, k) * 2.0 ** (k - 2)
        spread = row.p * row.q
        p, spread = np.where(spread > LEAST_SPREAD, row.p, 0.5), np.maximum(spread, LEAST_SPREAD)
        for k in OF_P:
            scale = 2.0 ** (k + 1) * LEAST_SPREAD / spread
            found[f"as if P were rounded to {k} significant bits"] = _to_bits(p, k) * scale
            found[f"as if P were rounded to a multiple of 2^-{k}"] = _to_multiple(p, k) * scale
    matrix = np.array(list(found.values()))
    return Weights(tuple(found), matrix, matrix * matrix, np.abs(matrix))


def _slope(of: Map, x: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The derivative of p over p q, over its largest value: what makes a change of x show best."""
    if of.law == "logistic":
        return np.ones(len(x))
    near = np.abs(x) < FARTHEST
    x, spread = np.where(near, x, 0.0), np.where(near, p * q, 0.25)
    found: np.ndarray = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) / spread / (FARTHEST + 1 / FARTHEST)
    return found


def _to_multiple(x: np.ndarray, j: int) -> np.ndarray:
    """What rounding to a multiple of 2^-j adds."""
    scaled = x * 2.0**j
    return (np.rint(scaled) - scaled) * 2.0**-j


def _to_bits(x: np.ndarray, k: int) -> np.ndarray:
    """What rounding to k significant bits adds; at |x| < 8."""
    exponent = np.frexp(x)[1]
    scaled = np.ldexp(x, k - exponent)
    found: np.ndarray = np.ldexp(np.rint(scaled) - scaled, exponent - k)
    return found


@dataclass
class Scores:
    """Sums over calls; `add` takes what came of one row."""

    of: Map
    fmt: Format
    tolerance: float
    names: tuple[str, ...] = ()
    sums: np.ndarray = field(default_factory=lambda: np.zeros((3, 0)))
    bins: np.ndarray = field(default_factory=lambda: np.zeros((3, BINS)))

    def add(self, row: PointRow, known: Weights, n: np.ndarray, kept: np.ndarray) -> None:
        """`known`: of the row; `n`, `kept`: how often each element was drawn, and kept."""
        if not self.sums.size:
            self.names, self.sums = known.names, np.zeros((3, len(known.names)))
        over, spread = kept - n * row.p, n * row.p * row.q
        self.sums += np.array([known.of @ over, known.squares @ spread, known.sizes @ n.astype(np.float64)])
        if self.of.law != "constant":
            near = np.abs(row.x) < WAVE_FARTHEST
            place = ((row.x[near] + SPAN / 2) * (BINS / SPAN)).astype(np.int64)
            for k, each in enumerate((over, spread, n.astype(np.float64))):
                self.bins[k] += np.bincount(place, each[near], BINS)

    def features(self) -> list[Feature]:
        found = [
            Feature(name, total, spread, size, self.tolerance)
            for name, (total, spread, size) in zip(self.names, self.sums.T.tolist(), strict=True)
            if spread > 0
        ]
        return found + ([self._wave()] if self.of.law != "constant" else [])

    def _wave(self) -> Feature:
        """The period, down to 2^-9, that P follows most, sine or cosine."""
        middle = (np.arange(BINS) + 0.5) * (SPAN / BINS) - SPAN / 2
        near = np.abs(middle) < WAVE_FARTHEST
        slope = np.where(near, _slope(self.of, middle, *self.of.probabilities(middle)), 0.0)
        slope /= slope.max()
        over = np.fft.rfft(slope * self.bins[0])
        square = np.fft.fft(slope**2 * self.bins[1])
        k = np.arange(1, BINS // 2)
        halves = square[0].real / 2 + np.array([1, -1])[:, None] * square[2 * k].real / 2  # of cosines, of sines
        totals = np.array([over[k].real, over[k].imag])
        size = float((slope * self.bins[2]).sum())
        apart = np.maximum(np.abs(totals) - size * self.tolerance, 0.0)
        # what has no variance of its own, a sine at the middles of bins, is rounding noise of the transform
        usable = halves > 1e-6 * max(square[0].real, 1e-300)
        place = int(np.argmax(np.where(usable, apart**2 / np.maximum(halves, 1e-300), -1.0)))
        kind, at = divmod(place, len(k))
        name = f"more or less often in periods of {SPAN / int(k[at]):.4g} in x"
        return Feature(name, float(totals[kind, at]), float(halves[kind, at]), size, self.tolerance, 2 * len(k))
