"""A phase that counts: calls with many x side by side, and how often each was kept, dropped, or something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..formats import get_format
from ..targets.base import Target
from ._native import count
from .maps import Map
from .plan import SEGMENT, SEGMENTS, Plan

KEPT, DROPPED, OTHER_SIGN, ALL = range(4)  # columns of the counts


@dataclass
class Counts:
    """Of each group of a plan: kept, dropped, dropped with the other sign of zero, all. `strange`: x and output of the
    first that is none of them."""

    plan: Plan
    table: np.ndarray
    strange: tuple[int, int] | None = None
    samples: int = 0


def counted(target: Target, of: Map, dtype: str, plan: Plan, seed: int, advance: Callable[[int], None]) -> Counts:
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
        if not of.drops_to_zero:
            table[:, OTHER_SIGN] = 0  # -(-x) is x, and was counted as kept
        np.add.at(found.table, order, table)
        found.samples += len(asked)
        if found.strange is None and (table[:, :ALL].sum(1) != table[:, ALL]).any():
            found.strange = _first_strange(y, asked, kept[order], dropped[order], of, fmt.sign_mask)
        advance(len(asked))
    return found


def _layouts(plan: Plan) -> Iterator[np.ndarray]:
    """For each call the groups of its segments: shares as the groups want them, at least one while any is wanted."""
    left = np.array([-(-group.wanted // SEGMENT) for group in plan.groups])
    while left.any():
        share = np.minimum(left, np.maximum(1, left * SEGMENTS // max(int(left.sum()), SEGMENTS)))
        share = np.where(left > 0, share, 0)
        yield np.repeat(np.arange(len(left)), share)
        left = left - share


def _first_strange(
    y: np.ndarray, asked: np.ndarray, kept: np.ndarray, dropped: np.ndarray, of: Map, sign: int
) -> tuple[int, int] | None:
    wanted, other = np.repeat(kept, SEGMENT), np.repeat(dropped, SEGMENT)
    where = np.flatnonzero(~matches(y, wanted, of.slack) & (y != other) & (y != other ^ y.dtype.type(sign)))
    return (int(asked[where[0]]), int(y[where[0]])) if len(where) else None


def matches(y: np.ndarray, wanted: np.ndarray, slack: int) -> np.ndarray:
    """Within so many ULP; unsigned bits wrap."""
    found: np.ndarray = y - (wanted - y.dtype.type(slack)) <= y.dtype.type(2 * slack)
    return found
