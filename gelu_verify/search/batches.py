"""What is asked of a target in one call, and what is kept of its answers.

A batch is a list of pieces: spans of consecutive ordinals of which some are drawn, one from each of equal parts, or
neighbourhoods of centres. It holds the key of its random numbers, so that whoever evaluates it draws the same inputs.
Of each piece the worst input is kept, and the mean error, which shows jumps.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..fenv import in_default_environment
from ..formats import Format, from_ordinals, get_format
from ..functions import get_function
from ..truth.values import judge

if TYPE_CHECKING:
    from ..targets.base import Target

INPUTS = 1 << 16  # of a batch, but where less is left
CONSECUTIVE = 4  # of the inputs around a centre, one in so many is next to the one before
Source = Literal["seeds", "binades", "uniform", "intervals", "jumps", "short numbers", "descent"]
SOURCES: tuple[Source, ...] = ("seeds", "binades", "uniform", "intervals", "jumps", "short numbers", "descent")


@dataclass(frozen=True)
class Batch:
    """Inputs of one call.

    `first`, `last`, `count`: of each piece, the ordinals that it spans and how many of them are drawn: all, where
    `count` is their number. `visits`: of pieces around a centre, how often it was visited before; `last` is `first`.
    """

    source: Source
    key: tuple[int, ...]
    first: np.ndarray
    last: np.ndarray
    count: np.ndarray
    visits: np.ndarray | None = None

    @property
    def size(self) -> int:
        return int(self.count.sum())

    def ordinals(self, fmt: Format) -> np.ndarray:
        """The inputs, piece after piece."""
        draw = np.random.default_rng(self.key).random(self.size)
        place = np.arange(self.size) - np.repeat(self.starts, self.count)
        drawn = self._within(place, draw) if self.visits is None else self._around(fmt, place, draw)
        return np.asarray(np.clip(drawn, -1 - fmt.max_finite, fmt.max_finite))

    @property
    def starts(self) -> np.ndarray:
        """Where each piece begins."""
        return np.concatenate([[0], np.cumsum(self.count)[:-1]])

    def _within(self, place: np.ndarray, draw: np.ndarray) -> np.ndarray:
        quotient, rest = np.divmod(self.last - self.first + 1, self.count)
        quotient, rest, first = (np.repeat(each, self.count) for each in (quotient, rest, self.first))
        part = quotient + (place < rest)
        return np.asarray(first + place * quotient + np.minimum(place, rest) + (draw * part).astype(np.int64))

    def _around(self, fmt: Format, place: np.ndarray, draw: np.ndarray) -> np.ndarray:
        """A quarter one after the other, farther out with each visit; the rest at distances up to 2^-5 of a binade,
        evenly by their logarithm. Half of them on each side."""
        assert self.visits is not None
        count, visits, centre = (np.repeat(each, self.count) for each in (self.count, self.visits, self.first))
        near = count // CONSECUTIVE
        step = place // 2 + visits * (near // 2)
        share = (place - near + draw) / np.maximum(count - near, 1)
        distance = np.where(place < near, step, np.exp2(share * (fmt.precision - 6)).astype(np.int64))
        return np.asarray(np.where(place % 2, centre + distance, centre - distance))


class Found(NamedTuple):
    """The answers to a batch: of each piece its worst input, and of the whole batch what is worse than any error.

    `error`: largest |error| in ULP, -1 where no input has one; `x`, `got`, `want`: its bits; `mean`: of error / (1 +
    |error|), so that few large errors do not decide it. `nonfinite` (a number where none is due, too), `wrong_sign`:
    the row (bits of x, got, want) that is nearest to zero; `counts` is how many there were.
    """

    error: np.ndarray
    x: np.ndarray
    got: np.ndarray
    want: np.ndarray
    mean: np.ndarray
    counts: tuple[int, int]
    nonfinite: tuple[int, int, int] | None
    wrong_sign: tuple[int, int, int] | None


@in_default_environment
def evaluated(target: Target, function: str, dtype: str, batch: Batch, turn: AbstractContextManager[object]) -> Found:
    """Call the target with a batch, during its `turn`, and judge its answers; TargetFailure as of every call."""
    fmt = get_format(dtype)
    x = from_ordinals(fmt, batch.ordinals(fmt))
    asked = x.copy()
    with turn:
        got = target.timed(dtype, asked)[0]
    target.check_unchanged(fmt, x, asked)
    got = np.ascontiguousarray(got)
    want, error, _ = judge(function, dtype, x, got, keep=False)
    size = np.abs(error)
    undefined = np.flatnonzero(np.isinf(size))
    nonfinite = ~np.isfinite(size)  # NaN where NaN is due, too
    size[nonfinite] = -1.0
    negative = fmt.uint.type(fmt.sign_mask)
    wrong = np.zeros(0, np.intp)
    if get_function(function).sign:
        wrong = np.flatnonzero(((got ^ want) >= negative) & (got & ~negative != 0) & ~nonfinite)
    starts = batch.starts
    largest = np.maximum.reduceat(size, starts)
    places = np.flatnonzero(size == np.repeat(largest, batch.count))
    worst = places[np.searchsorted(places, starts)]
    compressed = np.where(nonfinite, 0.0, error / (1.0 + np.abs(size)))
    mean = np.add.reduceat(compressed, starts) / batch.count
    return Found(
        largest, x[worst], got[worst], want[worst], mean, (len(undefined), len(wrong)),
        _nearest(fmt, x, got, want, undefined), _nearest(fmt, x, got, want, wrong),
    )  # fmt: skip


def _nearest(
    fmt: Format, x: np.ndarray, got: np.ndarray, want: np.ndarray, places: np.ndarray
) -> tuple[int, int, int] | None:
    """The row of the smallest |x|, of those places."""
    if not len(places):
        return None
    at = places[np.argmin(x[places] & fmt.uint.type(fmt.sign_mask - 1))]
    return int(x[at]), int(got[at]), int(want[at])
