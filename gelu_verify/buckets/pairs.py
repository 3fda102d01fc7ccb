"""The table of all pairs (x, second input) of a function with a second input, in a format of 16 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import UsageError
from ..formats import from_ordinals, get_format
from ..truth.second_input import judge_pair, second_of
from .reducer import Outcome, Reduction
from .table import MonotonePieces, Table, merge

Worst = tuple[float, int, int, int, int]
"""|error| in ulp, and the bits of x, of the second input, of the output and of the correctly rounded result."""


class PairReduction:
    """The table of pairs while it grows; for one thread. A second input is added once, with the outputs at every x."""

    def __init__(self, function: str, dtype: str) -> None:
        self._second, self._fmt = second_of(function), get_format(dtype)
        if self._fmt.width != 16:
            raise UsageError(f"all pairs of {dtype} are too many (accepted: float16, bfloat16)")
        self._x = from_ordinals(self._fmt, np.arange(-(1 << 15), 1 << 15))
        self._table: Table | None = None
        self.worst: Worst | None = None

    def add(self, second_bits: int, got: np.ndarray) -> None:
        """Outputs `got` (bits) for every x, by ordinal, and one second input: any bit pattern."""
        fmt, function = self._fmt, self._second.function
        if got.dtype != fmt.uint or got.shape != self._x.shape:
            raise UsageError(f"got must be {self._x.size} outputs as {fmt.uint}, one for each x")
        want, error, faithful = judge_pair(function.name, fmt.name, second_bits, self._x, got)
        at = (
            self._second.at(fmt, second_bits)
            if fmt.is_finite(second_bits)
            else replace(function, turning_points=None, at_most_x=False)
        )
        reduction = Reduction(fmt, at, MonotonePieces.of(at, fmt))
        reduction.add_outcome(Outcome(self._x, got, want, error, faithful))
        table = replace(reduction.table(), segments=np.empty((0, 4), np.int64), samples=np.empty((0, 2), np.uint64))
        self._table = table if self._table is None else merge([self._table, table])
        row = table.worst()
        if row is not None and (self.worst is None or table.columns["max_error"][row] > self.worst[0]):
            x, output, due = (int(table.columns[f"max_error_{name}"][row]) for name in ("x", "got", "want"))
            self.worst = float(table.columns["max_error"][row]), x, second_bits, output, due

    def table(self) -> Table:
        """What was added so far; something must have been. It has no segments and no samples."""
        assert self._table is not None
        return self._table
