"""What a check is given, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..buckets.table import Table
from ..errors import Unanswered
from ..formats import Format, texts_apart, value_text
from ..functions import Function
from ..inputs.plans import Plan
from ..records.parts import Severity
from ..records.result import Status
from ..targets.extra_outputs import ExtraOutputs, differences
from ..targets.recorded import Recorded
from ..truth.values import Judgement, judge
from .dense import Dense, dense_bits
from .endurance import Endurance
from .positions import Positions

if TYPE_CHECKING:
    from ..targets.base import Target

Policy = Literal["limit", "formula"]
PROBE = 257  # inputs of one probing call: always as many, because some frameworks compile per shape


@dataclass(frozen=True)
class Finding:
    """What a check found: one line, and the input that shows it (bits)."""

    status: Status
    detail: str = ""
    x_bits: int | None = None
    got_bits: int | None = None
    want_bits: int | None = None
    value: str | None = None  # what was found, where that is a name: the variant
    other_bits: int | None = None  # the other output, where one input had two
    counted: tuple[int, int] | None = None  # how many are so, of how many that were asked for it


@dataclass(frozen=True)
class Evidence:
    """What a check looks at, of one target in one dtype: the merged table, the plan, and the target itself."""

    function: Function
    fmt: Format
    target: Target
    table: Table
    plan: Plan
    policy: Policy = "limit"
    others: ExtraOutputs = field(default_factory=ExtraOutputs)
    progress: Callable[[int], object] = lambda calls: None
    own_faults: list[str] = field(default_factory=list)  # ours, while it was judged: one line each
    few_calls: bool = False  # beside the plan's: nobody asked for the target

    def __post_init__(self) -> None:
        """Whoever calls the target from here on, what it returns is kept in `others`."""
        if not isinstance(self.target, Recorded):
            object.__setattr__(self, "target", Recorded.around(self.target, others=self.others))

    def probe(self, x_bits: Sequence[int] | np.ndarray) -> np.ndarray:
        """Results at fixed inputs, bits in, bits out: what the sweep saw, or a call where the plan lacks one."""
        x = np.asarray(x_bits, dtype=self.fmt.uint)
        sampled, got = self.table.samples.T
        place = np.searchsorted(sampled, x)
        if len(sampled) and (sampled[np.minimum(place, len(sampled) - 1)] == x).all():
            return np.asarray(got[place].astype(self.fmt.uint))
        return self.call(x)

    def call(self, x: np.ndarray) -> np.ndarray:
        """A call of the target, at a length of earlier calls where a new length would be slow.

        Every output is kept to be judged, also those for inputs that only fill the call up.
        """
        step = self.length if self.target.compiles_per_length else PROBE
        cycled = np.resize(x, -(-len(x) // step) * step)
        parts = np.split(cycled, len(cycled) // step) if self.target.compiles_per_length else [cycled]
        got = np.concatenate([self.evaluate(part) for part in parts])
        expected = np.resize(got[: len(x)], len(cycled))
        whole = f"a call of {len(cycled)}" if len(parts) == 1 else f"calls of {step}"
        where = f"in {whole}", "at index {} of the same call, which has that input twice"
        self.others.differences.extend(differences(self.fmt, cycled, expected, got, where))
        return got[: len(x)]

    def evaluate(self, x: np.ndarray) -> np.ndarray:
        """The outputs of one call."""
        return self.target.evaluate(self.fmt.name, x)

    def compare(self, x: np.ndarray, usual: np.ndarray) -> None:
        """A call with these inputs where they lie, not with a copy; what is not `usual` is kept with that."""
        assert isinstance(self.target, Recorded)
        self.target.compared(self.fmt.name, x, usual)

    @property
    def length(self) -> int:
        """Inputs of a call of the sweep: of the first chunk, made odd; PROBE where those are few."""
        return self.plan.length or max(self.plan.usual_length | 1, PROBE)

    @property
    def _only_length(self) -> int | None:
        """Where every new length is compiled anew, the one that is used."""
        return self.length if self.target.compiles_per_length else None

    @cached_property
    def positions(self) -> Positions:
        """Outputs to the same inputs at many places of one call."""
        return Positions.of(self.function, self.fmt, self.evaluate, self._only_length)

    @cached_property
    def endurance(self) -> Endurance:
        """What very many calls in a row showed; of plan stress."""
        return Endurance.of(self.target, self.fmt, self.function, self._only_length, self.progress)

    @cached_property
    def dense(self) -> Dense:
        """Outputs at runs of consecutive numbers."""
        x = dense_bits(self.function.name, self.fmt.name)
        got = self.call(x)
        return Dense(self.fmt, x, got, *self.judge(x, got))

    def judged(self, x_bits: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(got, want, error) at fixed inputs."""
        x = np.asarray(x_bits, dtype=self.fmt.uint)
        got = self.probe(x)
        want, error = self.judge(x, got)
        return got, want, error

    def judge(self, x: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(want, error) of outputs."""
        want, error, _ = self.judgement(x, got)
        return want, error

    @cached_property
    def _judged_calls(self) -> list[Judgement]:
        return []

    def judged_calls(self) -> list[Judgement]:
        """Of each call in `others`, the outputs held against the truth, once."""
        found = self._judged_calls
        found += [self.judgement(each.x, each.got) for each in self.others.calls[len(found) :]]
        return found

    def judgement(self, x: np.ndarray, got: np.ndarray) -> Judgement:
        """Outputs to any inputs, held against the truth."""
        return judge(self.function.name, self.fmt.name, x, got)

    def shown(self, detail: str, *results: tuple[int, int]) -> Finding:
        """A failure, with the (x, got) that shows it, of several the one farthest from the truth, and what is due."""
        x, got = np.array(results, dtype=self.fmt.uint).T
        want, error, _ = judge(self.function.name, self.fmt.name, x, got)
        away = np.where(got == want, -1.0, np.where(np.isfinite(error), np.abs(error), np.inf))
        worst = int(np.argmax(away))
        return Finding("fail", detail, *results[worst], int(want[worst]))

    def two_outputs(self, detail: str, x_bits: int, got: tuple[int, int]) -> Finding:
        """A failure, because one input had two outputs: shown is the one farther from the truth."""
        found = self.shown(detail, *((x_bits, each) for each in got))
        return replace(found, other_bits=got[found.got_bits == got[0]])

    def witness(self, name: str) -> tuple[int, int] | None:
        """(x, got) bits of a fact of the table: of the input nearest to zero."""
        key = getattr(self.table.facts, name)
        return None if key is None else (self.fmt.from_ordinal(key[1]), key[2])

    def digits(self, bits: int) -> str:
        """A value with so many digits that two neighbours differ."""
        return self.text(bits, 17 if self.fmt.precision > 24 else 9)

    def text(self, bits: int, digits: int = 6) -> str:
        """A value for a reader: a few digits, its bits stand beside it."""
        return value_text(self.fmt, bits, digits)

    def span(self, x: np.ndarray) -> str:
        """Between which magnitudes inputs lie (bits)."""
        small = np.sort(x & self.fmt.uint.type(self.fmt.sign_mask - 1))
        low, high = self.texts(int(small[0]), int(small[-1]))
        return f"{low} <= |x| <= {high}"

    def texts(self, *bits: int, digits: int = 6) -> list[str]:
        """Values beside each other, of which different ones read differently."""
        return texts_apart(self.fmt, *bits, digits=digits)


@dataclass(frozen=True)
class Check:
    """One yes/no property; the docstring of its module says in one line what is true where it passes."""

    name: str
    """Lower-case letters, digits and "_"."""
    reason: str
    """What goes wrong in the world, with the threads that call for the check."""
    run: Callable[[Evidence], Finding]
    severity: Severity | Callable[[Function, Format, Finding], Severity] = "loss"
    """What a failure means: a "defect" makes the grade `broken`; a "loss" of accuracy is graded by its size; a
    "convention" (NaN at -inf, the sign of a zero, flushing) stands apart and changes no grade. A function says it where
    that depends on the output."""
    of_inputs_tried: bool = False
    """Whether it looks at the outputs for all inputs that were tried and calls nothing itself, so that it finds more
    where these are more: such findings of two runs are compared on the inputs that both tried."""
    last: bool = False
    """Whether it looks at the outputs that all other checks asked for, and so runs after them."""
    remedy: str = ""
    """How an implementation that fails is usually mended."""

    def severity_of(self, function: Function, fmt: Format, finding: Finding) -> Severity:
        """What that failure means."""
        return self.severity(function, fmt, finding) if callable(self.severity) else self.severity

    def finding(self, evidence: Evidence) -> Finding:
        """What it found; not applicable where the target cannot be called with what the check needs."""
        try:
            return self.run(evidence)
        except Unanswered as reason:
            return Finding("not applicable", str(reason))
