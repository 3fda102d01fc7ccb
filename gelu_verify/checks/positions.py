"""The same inputs at many places of a call, and again in an equal call: what `lane` and `repeatable` look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..formats import Format, differ, from_ordinals, ordinals
from ..functions import Function
from ..inputs.special import POSITIONS, position_bits

CYCLES = 17  # every input meets 16 lanes, and of wider loops some inputs meet each
STRIDE = 100  # of the second order, in which every input has other neighbours


@dataclass(frozen=True)
class Positions:
    """`x` in a cycle: the outputs of a call, of an equal call, and of one in another order (bits)."""

    fmt: Format
    x: np.ndarray
    first: np.ndarray
    again: np.ndarray
    other_order: np.ndarray

    @classmethod
    def of(
        cls, function: Function, fmt: Format, evaluate: Callable[[np.ndarray], np.ndarray], length: int | None
    ) -> Positions:
        """By calls of `length` inputs; None where any length will do."""
        x, places = position_bits(function.name, fmt.name), np.arange(length or CYCLES * POSITIONS + 1)
        calls = [x[places % POSITIONS], x[places % POSITIONS], x[places * STRIDE % POSITIONS]]
        return cls(fmt, x, *map(evaluate, calls))

    @property
    def places(self) -> np.ndarray:
        return np.arange(len(self.first))

    @cached_property
    def usual(self) -> np.ndarray:
        """The output to each input that most places give: the median is, where more than half agree."""
        whole = len(self.first) // POSITIONS * POSITIONS
        by_input = np.sort(ordinals(self.fmt, self.first[:whole]).reshape(-1, POSITIONS), axis=0)
        return from_ordinals(self.fmt, by_input[len(by_input) // 2])

    def differ(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Where two outputs are not the same bits; a NaN is a NaN."""
        return differ(self.fmt, one, other)
