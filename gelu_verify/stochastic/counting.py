"""Phases that count: calls with many x side by side, and how often each was kept, dropped, or something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..formats import get_format
from ..targets.base import Target
from ._native import count, count_rows
from .features import Scores, Weights, weights
from .maps import Map
from .plan import SEGMENT, SEGMENTS, CellPlan, PhasePlan
from .points import PointRow, Points

KEPT, DROPPED, OTHER_SIGN, ALL = range(4)  # columns of the counts


@dataclass
class Counts:
    """Of each group of a plan: kept, dropped, dropped with the other sign of zero, all. `strange`: x and output of the
    first that is none of them."""

    plan: PhasePlan
    table: np.ndarray
    strange: tuple[int, int] | None = None
    samples: int = 0


def counted(target: Target, of: Map, dtype: str, plan: PhasePlan, seed: int, advance: Callable[[int], None]) -> Counts:
    """Calls, until each group has as many samples as it wants."""
    fmt = get_format(dtype)
    x_bits = np.array([group.x_bits for group in plan.groups], fmt.uint)
    kept, dropped = of.kept(fmt, x_bits), of.dropped(fmt, x_bits)
    found = Counts(plan, np.zeros((len(plan.groups), 4), np.int64))
    random = np.random.default_rng(seed)
    for segments in _layouts(plan):
        order = random.permutation(segments)
        asked = np.repeat(x_bits[order], SEGMENT)
        y, _ = target.timed(dtype, asked)
        table = np.zeros((len(order), 4), np.int64)
        count(y, kept[order], dropped[order], of.slack, table)
        _note_strange(of, found, table, y, asked, kept[order], dropped[order], partial(np.repeat, repeats=SEGMENT))
        np.add.at(found.table, order, table)
        found.samples += len(asked)
        advance(len(asked))
    return found


@dataclass
class CellCounts:
    """Of each cell of a plan, and of its held x: the columns of `Counts`; `p`, `q`: sums over all draws of P(kept) and
    P(dropped) in each cell; `held_x`: their row; `scores`: within cells."""

    plan: CellPlan
    scores: Scores
    table: np.ndarray
    held: np.ndarray
    p: np.ndarray
    q: np.ndarray
    moments: np.ndarray  # sums of x and x^2, each kept, kept as expected, and all: [6, cell]
    held_x: PointRow | None = None
    strange: tuple[int, int] | None = None
    samples: int = 0


def counted_cells(
    target: Target, of: Map, dtype: str, plan: CellPlan, seed: int, tolerance: float, advance: Callable[[int], None]
) -> CellCounts:
    """Calls, until each cell has as many samples as it wants.

    In every second call the x follow one another again and again in a random order, and the last row ends anywhere; in
    the others each x stays for some hundred elements. So neighbours differ, and are equal, and calls have many lengths.
    """
    fmt, points = get_format(dtype), Points(of, dtype, plan, seed)
    cells = len(plan.cells)
    found = CellCounts(
        plan, Scores(of, fmt, tolerance), np.zeros((cells, 4), np.int64), np.zeros((cells, 4), np.int64),
        np.zeros(cells), np.zeros(cells), np.zeros((6, cells)),
    )  # fmt: skip
    for k, (rows, short) in enumerate(points.calls()):
        if k % points.each == 0:
            row = points.row()
            known = weights(of, fmt, row)
        order = points.order()
        if k % 2:
            counts = _of_segments(target, of, dtype, row, order, rows, found)
        else:
            counts = _of_rows(target, of, dtype, row, order, rows, short, found)
        _add(found, row, known, counts)
        advance(int(counts[:, ALL].sum()))
    return found


def _of_rows(
    target: Target, of: Map, dtype: str, row: PointRow, order: np.ndarray, rows: int, short: int, found: CellCounts
) -> np.ndarray:
    """One call of so many rows, the last one short of some elements: what came of each element of a row."""
    x_bits, kept, dropped = row.x_bits[order], row.kept[order], row.dropped[order]
    asked = np.resize(x_bits, rows * len(row) - short)
    y, _ = target.timed(dtype, asked)
    seen = np.zeros((3, len(row)), np.uint32)
    count_rows(y, kept, dropped, of.slack, seen)
    counts = np.zeros((len(row), 4), np.int64)
    counts[order, :ALL] = seen.T
    counts[order, ALL] = rows - (np.arange(len(row)) >= len(row) - short)
    _note_strange(of, found, counts, y, asked, kept, dropped, partial(np.resize, new_shape=len(asked)))
    return counts


def _of_segments(
    target: Target, of: Map, dtype: str, row: PointRow, order: np.ndarray, rows: int, found: CellCounts
) -> np.ndarray:
    """One call in which each x stays for so many elements."""
    x_bits, kept, dropped = row.x_bits[order], row.kept[order], row.dropped[order]
    asked = np.repeat(x_bits, rows)
    y, _ = target.timed(dtype, asked)
    seen = np.zeros((len(row), 4), np.int64)
    count(y, kept, dropped, of.slack, seen)
    counts = np.zeros((len(row), 4), np.int64)
    counts[order] = seen
    _note_strange(of, found, counts, y, asked, kept, dropped, partial(np.repeat, repeats=rows))
    return counts


def _note_strange(
    of: Map, found: Counts | CellCounts, counts: np.ndarray, y: np.ndarray, asked: np.ndarray,
    kept: np.ndarray, dropped: np.ndarray, spread: Callable[..., np.ndarray],
) -> None:  # fmt: skip
    """Keep the first output that is neither `kept` nor `dropped`, which `spread` gives to all elements of the call."""
    if not of.drops_to_zero:
        counts[:, OTHER_SIGN] = 0  # -(-x) is x, and was counted as kept
    if found.strange is None and (counts[:, :ALL].sum(1) != counts[:, ALL]).any():
        kept, dropped = spread(kept), spread(dropped)
        sign = y.dtype.type(1 << (8 * y.itemsize - 1))
        where = np.flatnonzero(~matches(y, kept, of.slack) & (y != dropped) & (y != dropped ^ sign))
        if len(where):
            found.strange = int(asked[where[0]]), int(y[where[0]])


def _add(found: CellCounts, row: PointRow, known: Weights, counts: np.ndarray) -> None:
    n, kept = counts[:, ALL], counts[:, KEPT]
    cells, cell = len(found.plan.cells), row.cell
    for column in range(4):
        found.table[:, column] += np.bincount(cell, counts[:, column], cells).astype(np.int64)
        found.held[:, column] += np.bincount(cell, counts[:, column] * row.held, cells).astype(np.int64)
    found.p += np.bincount(cell, n * row.p, cells)
    found.q += np.bincount(cell, n * row.q, cells)
    x = np.where(np.abs(row.x) < 2.0**60, row.x, 0.0)  # moments are shown of ordinary x alone
    for place, each in enumerate((kept * x, kept * x * x, n * row.p * x, n * row.p * x * x, n * x, n * x * x)):
        found.moments[place] += np.bincount(cell, each, cells)
    found.scores.add(row, known, n, kept)
    if found.held_x is None:
        found.held_x = _held(row)
    found.samples += int(n.sum())


def _held(row: PointRow) -> PointRow:
    """One element for each cell."""
    first = np.flatnonzero(row.held)[np.unique(row.cell[row.held], return_index=True)[1]]
    return PointRow(*(getattr(row, name)[first] for name in PointRow.__dataclass_fields__))


def _layouts(plan: PhasePlan) -> Iterator[np.ndarray]:
    """For each call the groups of its segments: shares as the groups want them, at least one while any is wanted."""
    left = np.array([-(-group.wanted // SEGMENT) for group in plan.groups])
    while left.any():
        share = np.minimum(left, np.maximum(1, left * SEGMENTS // max(int(left.sum()), SEGMENTS)))
        share = np.where(left > 0, share, 0)
        yield np.repeat(np.arange(len(left)), share)
        left = left - share


def matches(y: np.ndarray, wanted: np.ndarray, slack: int) -> np.ndarray:
    """Within so many ULP; unsigned bits wrap."""
    found: np.ndarray = y - (wanted - y.dtype.type(slack)) <= y.dtype.type(2 * slack)
    return found
