"""Results are rounded to nearest: not cut off, and not rounded up, down or to odd.

The way of rounding is read from the results. Where they come from wider arithmetic the lower or the upper of the two
numbers next to y is given, whichever the way says, wherever y lies between them. Arithmetic in the dtype itself rounds
several times; there x/2 of subnormal x, a tie, shows it, and errors of one sign must agree with what it shows. An error
of one sign alone is no proof: a constant that is a little too small has that too.
"""

from __future__ import annotations

import numpy as np

from .base import Check, Evidence, Finding
from .midpoints import CORE, Ends, half_of_tiny

FEW = 64  # results of one sign: fewer say nothing
WITHIN = 1 + 1 / 16  # ulp: what a single rounding may be off, and some error before it
MOST = 0.98  # of the results, because the error before the rounding may be larger at some
RARE = 0.03  # of the results in a quarter that do not follow
LESS = 0.125  # ulp: beyond it on the other side are few where all roundings have one direction
SPREAD = 1.4  # ulp: wider than the error of a single rounding after a small relative error
COMPOSED = 8.0  # ulp: several roundings of one direction are off by less
QUARTERS = np.linspace(0, 1, 5)
NEAREST, EVEN, AWAY = "nearest", "nearest_even", "nearest_away"
ZERO, FROM_ZERO, UP, DOWN = "toward_zero", "away_from_zero", "up", "down"
ODD, STOCHASTIC = "to_odd", "stochastic"
WORDS = {
    ZERO: "toward zero (cut off)",
    FROM_ZERO: "away from zero",
    UP: "up, toward +inf",
    DOWN: "down, toward -inf",
    ODD: "to odd",
}


def run(evidence: Evidence) -> Finding:
    ends = Ends.of(evidence.dense)
    positive, negative = ends.where(~ends.negative), ends.where(ends.negative)
    if len(negative.error) < 4 * FEW:  # gradients: most of their negative results lie beyond the core
        everywhere = Ends.of(evidence.dense, -np.inf)
        negative = everywhere.where(everywhere.negative)
    ways = [_way(ends) for ends in (positive, negative) if len(ends.error) >= FEW]
    tie = _at_ties(evidence)
    mode = _of_one_rounding(*ways) or _of_several(evidence, positive, tie)
    if mode in (NEAREST, None) and tie in (EVEN, AWAY):
        mode = tie
    if mode is None:
        return Finding("not applicable", "the results do not show how they are rounded")
    if mode not in WORDS:
        return Finding("pass", value=mode)
    x, got, want = _worst(evidence)
    detail = f"results are rounded {WORDS[mode]}, not to nearest: f({evidence.digits(x)}) = {evidence.digits(got)}"
    return Finding("fail", detail, x, got, want, mode)


def _way(ends: Ends) -> str | None:
    """Which end results of one sign are, by magnitude, where they are those of a single rounding.

    The same in both halves of a binade: a relative error before the rounding is larger in one, counted in ulp.
    """
    lower, upper = (_way_of_half(ends.where(half)) for half in (~ends.large, ends.large))
    return lower if lower == upper else None


def _way_of_half(ends: Ends) -> str | None:
    within = np.abs(ends.error) <= WITHIN
    if not len(within) or within.mean() < MOST:
        return None
    if (np.abs(ends.error) <= WITHIN - 0.5).mean() >= MOST:
        return NEAREST
    share, up = ends.share[within], ends.error[within] > 0
    middle = (share > 1 / 16) & (share < 15 / 16)
    quarter = np.searchsorted(QUARTERS, share[middle]) - 1
    counts = np.bincount(quarter, minlength=4)
    if counts.min() < FEW // 16:
        return None
    above = np.bincount(quarter, up[middle], minlength=4) / counts
    if (above <= RARE).all():
        return ZERO
    if (above >= 1 - RARE).all():
        return FROM_ZERO
    if ends.odd.mean() >= 1 - RARE:
        return ODD
    by_chance = np.abs(above - (QUARTERS[1:] + QUARTERS[:-1]) / 2) < 3 * np.sqrt(0.25 / counts)
    return STOCHASTIC if by_chance.all() and (np.abs(ends.error) < 1).all() else None


def _of_one_rounding(positive: str | None = None, negative: str | None = None) -> str | None:
    """The mode that the results of both signs follow; where those of one sign say nothing, that of the others."""
    if negative in (None, positive):
        return positive
    return {(FROM_ZERO, ZERO): UP, (ZERO, FROM_ZERO): DOWN}.get((positive or "", negative))


def _of_several(evidence: Evidence, positive: Ends, tie: str | None) -> str | None:
    """The direction that ties show, and the errors of positive results, where those are rounded several times."""
    if tie not in (ZERO, DOWN) or not _halves_exactly(evidence):
        return None
    lost = -positive.error
    if len(lost) < FEW or (lost < -LESS).mean() > 1 - MOST or (lost > COMPOSED).mean() > 1 - MOST:
        return None
    spread = np.subtract(*np.quantile(lost, (MOST, 1 - MOST)))
    return tie if np.median(lost) > 2 * LESS and spread > SPREAD else None


def _at_ties(evidence: Evidence) -> str | None:
    """Where x/2 of odd subnormal x goes: None where it is the number nearest to y, which lies above x/2."""
    ties = half_of_tiny(evidence)
    if ties is None:
        return None
    k, half = ties
    up, beside = np.abs(2 * half) > np.abs(k), np.abs(2 * half - k) == 1
    patterns = {EVEN: beside & (half % 2 == 0), AWAY: beside & up, ZERO: ~up, DOWN: up == (k < 0)}
    return next((name for name, follows in patterns.items() if follows.all()), None)


def _halves_exactly(evidence: Evidence) -> bool:
    """Whether x/2 of tiny normal x > 0 is given exactly: a factor that is not quite 1/2 shows the same ties."""
    fmt = evidence.fmt
    step = 1 << (fmt.precision - 1)
    fields = np.linspace(2, fmt.one // step - fmt.precision - 2, 16).astype(np.int64)
    x = ((fields[:, None] * step) + np.array([1, step // 3, step - 1])).ravel().astype(fmt.uint)
    got = evidence.call(x)
    return bool((got == x - fmt.uint.type(step)).all())


def _worst(evidence: Evidence) -> tuple[int, int, int]:
    """(x, got, want) of the result farthest from y."""
    dense = evidence.dense
    at = np.flatnonzero(dense.ordinary & (dense.value >= CORE) & (dense.got != dense.want))
    return dense.bits(int(at[np.argmax(np.abs(dense.error[at]))]))


CHECK = Check(
    "rounding",
    "float32 cut off to bfloat16, or a processor left in another mode: faithful, up to 1 ulp",
    run,
    remedy=(
        "Convert once, at the end, by an instruction that rounds to nearest; restore the rounding mode of the "
        "processor."
    ),
)
