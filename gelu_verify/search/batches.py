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

from ..formats import Format, from_ordinals, get_format
from ..functions import get_function
from ..truth.values import enclosures, judge
from . import _native

if TYPE_CHECKING:
    from ..targets.base import Target

INPUTS = 1 << 16  # of a batch, but where less is left
CONSECUTIVE = 4  # of the inputs around a centre, one in so many is next to the one before
TIE_SPAN = 1 << 20  # floats after a centre, of which those are tried whose values are nearest to a midpoint
Source = Literal["seeds", "binades", "uniform", "intervals", "jumps", "short numbers", "descent", "ties", "every input"]
SOURCES: tuple[Source, ...] = (
    "seeds", "binades", "uniform", "intervals", "jumps", "short numbers", "descent", "ties", "every input",
)  # fmt: skip


@dataclass(frozen=True)
class CallBatch:
    """Inputs of one call.

    `first`, `last`, `count`: of each piece, the ordinals that it spans and how many of them are drawn: all, where
    `count` is their number. `visits`: of pieces around a centre, how often it was visited before; `last` is `first`.
    `shift`, `jitter`: of pieces that are spans, where in each equal part its input is drawn: so far from its beginning,
    and at random up to so far beyond, as shares of the part.
    """

    source: Source
    key: tuple[int, ...]
    first: np.ndarray
    last: np.ndarray
    count: np.ndarray
    visits: np.ndarray | None = None
    shift: float = 0.0
    jitter: float = 1.0

    @property
    def size(self) -> int:
        return int(self.count.sum())

    def ordinals(self, fmt: Format) -> np.ndarray:
        """The inputs, piece after piece. Around a centre: a quarter one after the other, farther out with each visit;
        the rest at distances up to 2^-5 of a binade, evenly by their logarithm. Half of them on each side."""
        out = np.empty(self.size, np.int64)
        if self.visits is None:
            _native.draw_within(self._drawn, self.first, self.last, self.count, self.shift, self.jitter, out)
        else:
            scale, most = float(fmt.precision - 6), fmt.max_finite
            _native.draw_around(self._drawn, self.first, self.count, self.visits, CONSECUTIVE, scale, most, out)
        return out

    def ties(self, function: str, fmt: Format) -> np.ndarray:
        """Inputs after each centre whose exact values lie near the midpoint of two numbers: where a result that is
        nearly correctly rounded is worst."""
        out = np.empty(self.size, np.int64)
        three = self.first[:, None] + np.array([0, TIE_SPAN // 2, TIE_SPAN])
        x = from_ordinals(fmt, np.clip(three, -1 - fmt.max_finite, fmt.max_finite).reshape(-1))
        values = enclosures(function, fmt.name, x).values
        _native.draw_ties(self._drawn, values, self.first, self.count, TIE_SPAN, fmt.max_finite, out)
        return out

    @property
    def _drawn(self) -> int:
        """The key of its random numbers, in 64 bits."""
        return int(np.random.SeedSequence(self.key).generate_state(1, np.uint64)[0])

    @property
    def starts(self) -> np.ndarray:
        """Where each piece begins."""
        return np.concatenate([[0], np.cumsum(self.count)[:-1]])


class BatchAnswers(NamedTuple):
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


ANSWER = np.dtype([("worst", "i8"), ("largest", "f8"), ("mean", "f8")])


def evaluated(
    target: Target, function: str, dtype: str, batch: CallBatch, turn: AbstractContextManager[object],
    length: int | None = None,
) -> BatchAnswers:  # fmt: skip
    """Call the target with a batch, during its `turn`, and judge its answers; TargetFailure as of every call."""
    fmt = get_format(dtype)
    x = from_ordinals(fmt, batch.ties(function, fmt) if batch.source == "ties" else batch.ordinals(fmt))
    asked = x.copy()
    with turn:
        got = target.evaluate_in_calls(dtype, asked, length) if length else target.timed(dtype, asked)[0]
    target.check_unchanged(fmt, x, asked)
    return scored(function, fmt, x, np.ascontiguousarray(got), batch)


def scored(function: str, fmt: Format, x: np.ndarray, got: np.ndarray, batch: CallBatch) -> BatchAnswers:
    """Of every input its error, by which the worst of each piece is chosen; those are judged as results are."""
    has_sign = bool(get_function(function).sign)
    values, layout, limits, at_zero = enclosures(function, fmt.name, x)
    answers = np.empty(len(batch.count), ANSWER)
    nonfinite, wrong, unsure = _native.score(
        values, layout, limits, at_zero, has_sign, x.view(np.uint8), got.view(np.uint8), batch.count,
        answers.view(np.uint8),
    )  # fmt: skip
    if unsure:  # not finite, and the bound does not decide whether that is an overflow: as good as never
        places = np.flatnonzero(np.isinf(judge(function, fmt.name, x, got, keep=False).error))
        nearest = places[np.argmin(x[places] & fmt.uint.type(fmt.sign_mask - 1))] if len(places) else -1
        nonfinite = len(places), int(nearest)
    worst = np.where(answers["worst"] < 0, batch.starts, answers["worst"])
    want, error, _ = judge(function, fmt.name, x[worst], got[worst], keep=False)
    error = np.abs(error)

    def row(place: int) -> tuple[int, int, int] | None:
        if place < 0:
            return None
        one = slice(place, place + 1)
        return int(x[place]), int(got[place]), int(judge(function, fmt.name, x[one], got[one], keep=False).want_bits[0])

    return BatchAnswers(
        np.where(np.isfinite(error), error, -1.0), x[worst], got[worst], want, answers["mean"],
        (nonfinite[0], wrong[0]), row(nonfinite[1]), row(wrong[1]),
    )  # fmt: skip
