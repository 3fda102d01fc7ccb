"""What a check is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..bucket_table import Table
from ..formats import Format
from ..functions import Function
from ..plans import Plan
from ..reference import judge

if TYPE_CHECKING:
    from ..targets.base import Target

Verdict = Literal["pass", "fail", "not applicable"]
Policy = Literal["limit", "formula"]
PROBE = 257  # inputs of one probing call: always as many, because some frameworks compile per shape


@dataclass(frozen=True)
class Finding:
    """The answer of a check: one line, and the input that shows it (bits)."""

    verdict: Verdict
    detail: str = ""
    x_bits: int | None = None
    got_bits: int | None = None
    want_bits: int | None = None
    value: str | None = None  # what was found, where that is a name: the variant


@dataclass(frozen=True)
class Evidence:
    """What is known of one target in one dtype: the merged table, the plan, and the target itself."""

    function: Function
    fmt: Format
    target: Target
    table: Table
    plan: Plan
    policy: Policy = "limit"

    def probe(self, x_bits: Sequence[int] | np.ndarray) -> np.ndarray:
        """Results at fixed inputs, bits in, bits out: what the sweep saw, or a call where the plan lacks one."""
        x = np.asarray(x_bits, dtype=self.fmt.uint)
        known, got = self.table.samples.T
        place = np.searchsorted(known, x)
        if len(known) and (known[np.minimum(place, len(known) - 1)] == x).all():
            return got[place].astype(self.fmt.uint)
        return self.target.evaluate(self.fmt.name, np.resize(x, -(-len(x) // PROBE) * PROBE))[: len(x)]

    def judged(self, x_bits: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(got, want, error) at fixed inputs."""
        x = np.asarray(x_bits, dtype=self.fmt.uint)
        got = self.probe(x)
        want, error, _ = judge(self.function.name, self.fmt.name, x, got)
        return got, want, error

    def shown(self, detail: str, x_bits: int, got_bits: int) -> Finding:
        """A failure, with the result that shows it beside the correctly rounded one."""
        x, got = (np.array([bits], dtype=self.fmt.uint) for bits in (x_bits, got_bits))
        want = judge(self.function.name, self.fmt.name, x, got).want_bits
        return Finding("fail", detail, x_bits, got_bits, int(want[0]))

    def witness(self, name: str) -> tuple[int, int] | None:
        """(x, got) bits of a fact of the table: of the input nearest to zero."""
        key = getattr(self.table.facts, name)
        return None if key is None else (self.fmt.from_ordinal(key[1]), key[2])

    def text(self, bits: int, digits: int = 6) -> str:
        """A value for a reader: a few digits, its bits stand beside it."""
        sign = "-" if self.fmt.is_negative(bits) else ""
        if self.fmt.is_nan(bits):
            return "NaN"
        if not self.fmt.is_finite(bits):
            return f"{sign}inf"
        return f"{float(self.fmt.fraction(bits)):.{digits}g}" if self.fmt.magnitude(bits) else f"{sign}0"


@dataclass(frozen=True)
class Check:
    """One yes/no property; `reason` says why it is asked, with the threads that call for it."""

    name: str
    reason: str
    run: Callable[[Evidence], Finding]
