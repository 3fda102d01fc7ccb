"""The x of one call: in each cell one that stays for the whole phase, `held`, and others that are drawn anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats import get_format, to_float64
from .maps import Map, of_dtype
from .plan import CellPlan

WIDTH = 4096  # different x in a call, about
ROWS = 256  # of a call, about: so often it has each of them
DRAWN = 48  # rows are drawn anew, about; where there are more calls, some have the same in another order


@dataclass(frozen=True)
class PointRow:
    """Inputs of a call, which follow one another again and again, or stay for many elements each.

    `x_bits`, `kept` and `dropped`: of the dtype; `x`, `p`, `q`: doubles, P(kept) and P(dropped); `cell`: index; `held`.
    """

    x_bits: np.ndarray
    kept: np.ndarray
    dropped: np.ndarray
    x: np.ndarray
    p: np.ndarray
    q: np.ndarray
    cell: np.ndarray
    held: np.ndarray

    def __len__(self) -> int:
        return len(self.x_bits)


class Points:
    """Draws rows for a plan; the same seed draws the same."""

    def __init__(self, of: Map, dtype: str, plan: CellPlan, seed: int) -> None:
        self._of, self._fmt, self._plan = of, get_format(dtype), plan
        self._random, self._lengths = (np.random.default_rng((seed, k)) for k in (3, 4))
        self.entries, self.rows = _shared(np.array([cell.wanted for cell in plan.cells], np.float64))
        self._cell = np.repeat(np.arange(len(plan.cells)), self.entries)
        place = np.arange(len(self._cell)) - np.repeat(np.cumsum(self.entries) - self.entries, self.entries)
        self._held = place < np.repeat(np.maximum(1, self.entries // 2), self.entries)
        first = place == 0
        self._held_bits = self._drawn(self._cell[first])

    def row(self) -> PointRow:
        """With other x, but for those that are held."""
        x_bits = np.where(self._held, self._held_bits[self._cell], self._drawn(self._cell))
        return described(self._of, self._fmt.name, x_bits, self._cell, self._held)

    def order(self) -> np.ndarray:
        """Places of a row, shuffled."""
        return self._random.permutation(len(self._cell))

    @property
    def each(self) -> int:
        """So many calls have one row."""
        return max(1, self.rows // (ROWS * DRAWN))

    def calls(self) -> list[tuple[int, int]]:
        """Of each call how many rows it has, and by how many elements the last one is shorter."""
        found, left = list[tuple[int, int]](), self.rows
        while left > 0:
            rows = min(left, int(self._lengths.integers(ROWS // 2, 3 * ROWS // 2)))
            short = 0 if len(found) % 2 else int(self._lengths.integers(0, len(self._cell) // 2))
            found.append((rows, short))
            left -= rows
        return found

    def _drawn(self, cells: np.ndarray) -> np.ndarray:
        """Bits of one x in each of these cells."""
        low, high = (np.array([getattr(cell, name) for cell in self._plan.cells])[cells] for name in ("low", "high"))
        logarithmic, negative = (
            np.array([getattr(cell, name) for cell in self._plan.cells])[cells] for name in ("logarithmic", "negative")
        )
        u = self._random.random(len(cells))
        start, end = (np.log2(np.where(logarithmic, each, 1.0)) for each in (low, high))
        size = np.where(logarithmic, np.exp2(start + (end - start) * u), low + (high - low) * u)
        bits = of_dtype(self._fmt.name, np.minimum(np.maximum(size, low), high))
        bits[negative] |= self._fmt.uint.type(self._fmt.sign_mask)
        return bits


def _shared(wanted: np.ndarray) -> tuple[np.ndarray, int]:
    """How many elements of a row each cell has, two at least, and how many rows there are, for the fewest samples."""
    best = None
    for width in range(WIDTH - 512, WIDTH + 513, 32):
        entries = np.maximum(2, np.ceil(width * wanted / wanted.sum())).astype(np.int64)
        rows = int(np.ceil(wanted / entries).max())
        if best is None or rows * entries.sum() < best[1] * best[0].sum():
            best = entries, rows
    assert best is not None
    return best


def described(of: Map, dtype: str, x_bits: np.ndarray, cell: np.ndarray, held: np.ndarray) -> PointRow:
    """A row with all that follows from its x."""
    fmt = get_format(dtype)
    x = to_float64(fmt, x_bits)
    p, q = of.probabilities(x)
    return PointRow(x_bits, of.kept(fmt, x_bits), of.dropped(fmt, x_bits), x, p, q, cell, held)


def drawn_samples(of: Map, dtype: str, plan: CellPlan, seed: int) -> int:
    """Elements of all calls."""
    points = Points(of, dtype, plan, seed)
    width = int(points.entries.sum())
    return sum(rows * width - short for rows, short in points.calls())
