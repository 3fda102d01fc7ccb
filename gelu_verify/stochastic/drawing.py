"""Calls whose masks are compared: x at which both outcomes are likely, and which elements were kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats import get_format, to_float64, value_text
from ..targets.base import Target
from .counting import matches
from .maps import of_dtype
from .request import MapRequest
from .target import seed as seeded

POOL = 1 << 12  # different x in a call
LEAST, NEAR, MOST = 2.0**-8, 2.0**-4, 0.5  # of |x|; of one x; of several


@dataclass(frozen=True)
class DrawnInputs:
    """What a call is made with, and the bits of what is kept and dropped. `p`, `q`: P(kept) and P(dropped) of each
    element; one number where all x are one."""

    x_bits: np.ndarray
    kept: np.ndarray
    dropped: np.ndarray
    p: np.ndarray
    q: np.ndarray

    @property
    def is_mixed(self) -> bool:
        return len(self.p) > 1

    def repeated(self, n: int) -> DrawnInputs:
        """n times the one x."""
        x_bits, kept, dropped = (np.full(n, each[0], each.dtype) for each in (self.x_bits, self.kept, self.dropped))
        return DrawnInputs(x_bits, kept, dropped, self.p, self.q)


class Draw:
    """Inputs and calls of one phase; `strange`: the first output that was neither kept nor dropped."""

    def __init__(self, target: Target, request: MapRequest, phase: int) -> None:
        self.target, self.request, self.of = target, request, request.judged_as()
        self._fmt = get_format(request.dtype)
        self._random = np.random.default_rng((request.seed, phase))
        self.samples = 0
        self.strange: list[str] = []

    def one(self, n: int) -> DrawnInputs:
        """n times one x: |x| from 2^-8 to 2^-4, so that p is between 0.47 and 0.53."""
        return self._described(self._some(1, NEAR)).repeated(n)

    def mixed(self, n: int) -> DrawnInputs:
        """n of POOL different ones, |x| from 2^-8 to 1/2."""
        inputs = self._described(self._some(POOL, MOST))
        places = self._random.integers(0, POOL, n)
        return DrawnInputs(*(getattr(inputs, name)[places] for name in DrawnInputs.__dataclass_fields__))

    def _some(self, n: int, most: float) -> np.ndarray:
        """x in bits; where p does not depend on them, 8 times as large."""
        size = LEAST + (most - LEAST) * self._random.random(n)
        positive = self._random.random(n) < 0.5
        if self.of.law == "constant":
            size = 8 * size
        return of_dtype(self.request.dtype, np.where(positive | (self.of.name == "relu_dropout"), size, -size))

    def _described(self, x_bits: np.ndarray) -> DrawnInputs:
        p, q = self.of.probabilities(to_float64(self._fmt, x_bits))
        return DrawnInputs(x_bits, self.of.kept(self._fmt, x_bits), self.of.dropped(self._fmt, x_bits), p, q)

    def seed(self, number: int) -> None:
        self.target.applied(1, seeded, self.request.dtype, number, self.request.rate)

    def mask(self, inputs: DrawnInputs) -> np.ndarray:
        """Which elements of one call are kept."""
        y, _ = self.target.timed(self.request.dtype, inputs.x_bits)
        self.samples += y.size
        kept = matches(y, inputs.kept, self.of.slack)
        sign = self._fmt.uint.type(self._fmt.sign_mask)
        strange = ~kept & (y != inputs.dropped) & (y != inputs.dropped ^ sign)
        k = int(np.argmax(strange))
        self.note_strange((int(strange.sum()), int(y[k])), y.size, int(inputs.x_bits[k]))
        return kept

    def note_strange(self, strange: tuple[int, int], n: int, x: int) -> None:
        """How many of n outputs were neither, and one of them, at x."""
        if strange[0] and not self.strange:
            self.strange.append(
                f"{strange[0]} of {n} outputs are neither kept nor dropped, such as "
                f"{value_text(self._fmt, strange[1])} at x = {value_text(self._fmt, x)}"
            )
