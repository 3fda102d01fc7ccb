"""How many bits the comparison u < p has, from rare outcomes.

Uniforms on a grid of b bits, k 2^-b, compare with a p far below 2^-b as with 2^-b or with 0, whatever p is: on one side
of x, what should not happen once in 2^40 happens once in 2^b.
"""

from __future__ import annotations

import math

from .binomial import holm, tails, two_sided
from .report import Tail

RARE = 2.0**-30  # outcomes at which a grid shows by what happens
RARELY = 2.0**-6  # what happens more often is no step of a grid
MOST = 64


def excluded(outcomes: tuple[Tail, ...] | list[Tail], level: float, power: float) -> int | None:
    """The most bits of a grid that these samples find with that probability, whether there is one or not."""
    rarest = [tail for tail in outcomes if tail.probability < RARE]
    if not rarest:
        return None
    rarest.sort(key=lambda tail: tail.samples)
    probability, n = rarest[0].probability, rarest[0].samples
    needed = next(k for k in range(1, n + 1) if two_sided(k, n, probability, 1 - probability) <= level / len(outcomes))
    return next((b for b in range(MOST, 0, -1) if tails(needed - 1, n, 2.0**-b, 1 - 2.0**-b)[0] <= 1 - power), 0)


def found(outcomes: tuple[Tail, ...] | list[Tail], level: float) -> int | None:
    """Bits of the grid that rejected outcomes lie on; None where none is rejected."""
    rejected = [p <= level for p in holm([tail.p_value for tail in outcomes])]
    wrong = [tail for tail, is_wrong in zip(outcomes, rejected, strict=True) if is_wrong and _step(tail) < RARELY]
    return min((math.floor(-math.log2(_step(tail)) + 0.5) for tail in wrong), default=None)


def _step(tail: Tail) -> float:
    return max(tail.count / tail.samples, tail.probability)
