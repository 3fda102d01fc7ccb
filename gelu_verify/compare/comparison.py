"""What a comparison found, as frozen records: the object of docs/compare.md, from which all forms derive."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..judge.changes import Verdict
from ..judge.sides import Bits, Change
from ..records.fields import Count, Name, Positive, Size, Ulp, about
from ..records.parts import Bound, FunctionName, Grade
from ..records.result import DtypeName


@dataclass(frozen=True, slots=True)
class BothTried:
    """Budgets reached different buckets: only the inputs that both runs tried are compared."""

    inputs: Positive = field(metadata=about("how many inputs both tried"))
    buckets: Positive = field(metadata=about("in how many buckets"))
    of: Positive = field(metadata=about("buckets in which either tried any"))
    outside: str | None = field(
        metadata=about("what each is on the inputs that the other did not try", null="where that is no more, or worse")
    )

    @property
    def text(self) -> str:
        """In one line."""
        text = f"compared on {self.inputs:,} inputs that both tried ({self.buckets:,} of {self.of:,} buckets)"
        return f"{text}; not tried by both: {self.outside}" if self.outside else text


@dataclass(frozen=True, slots=True)
class Speed:
    """Elements per second before and after; it decides nothing."""

    old: Size = field(metadata=about("median elements per second in the old run"))
    old_spread: Size = field(metadata=about("interquartile range over median of its times"))
    new: Size = field(metadata=about("median elements per second in the new run"))
    new_spread: Size = field(metadata=about("interquartile range over median of its times"))
    text: str = field(metadata=about("one line: faster, slower, or within the spread"))


@dataclass(frozen=True, slots=True)
class TimesInTurns:
    """How much longer calls of one length take, from both revisions timed in turns (`--fail-on slower`)."""

    n: Positive = field(metadata=about("elements of a call; fewer where nine such calls take longer than 1/4 s"))
    rounds: Positive = field(metadata=about("how often both were timed, each time in a process of its own"))
    ratio: Size = field(metadata=about("new time over old time, the median of the rounds"))
    least: Size = field(
        metadata=about("it is more than that, but for chance, by which one comparison in 100 fails at most")
    )
    limit: Size = field(metadata=about("share by which the new one may take longer"))

    @property
    def is_slower(self) -> bool:
        """Whether it is by more than the limit, for certain."""
        return self.least > 1 + self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultComparison:
    """The old and the new result of one target, function and dtype."""

    target: Name = field(metadata=about("name of the implementation"))
    family: Name = field(metadata=about("what it belongs to"))
    function: FunctionName = field(metadata=about("what it was judged as"))
    dtype: DtypeName = field(metadata=about("in which dtype"))
    verdict: Verdict = field(
        metadata=about(
            '`"worse"`; `"mixed"`: worse in something and better in something else, beside which small changes do not '
            'count; `"vanished"`: only in the old run; `"unknown"`: what was kept does not say whether it is worse; '
            '`"changed"`: other results or findings, neither worse nor better; `"better"`; `"appeared"`: only in the '
            'new run; `"same"`: every result has the same bits, where NaN is due any NaN',
            key="status",
        )
    )
    old_grade: Grade | None = field(metadata=about("grade in the old run", null="where it has none"), default=None)
    new_grade: Grade | None = field(metadata=about("grade in the new run", null="where it has none"), default=None)
    old_max_ulp: Ulp | None = field(
        metadata=about("largest error in the old run", null="where it has none"), default=None
    )
    new_max_ulp: Ulp | None = field(
        metadata=about("largest error in the new run", null="where it has none"), default=None
    )
    old_grade_bound: Bound | None = field(
        metadata=about('what the old grade stands on: `"="` every input, `">="` a sample', null="where it has none"),
        default=None,
    )
    new_grade_bound: Bound | None = field(
        metadata=about("what the new grade stands on", null="where it has none"), default=None
    )
    old_bound: Bound | None = field(
        metadata=about("what the old largest error stands on", null="where it appeared"), default=None
    )
    new_bound: Bound | None = field(
        metadata=about("what the new largest error stands on", null="where it vanished"), default=None
    )
    old_version: str | None = field(
        metadata=about("version of the library, or hash of the source, in the old run", null="where it appeared"),
        default=None,
    )
    new_version: str | None = field(
        metadata=about("version of the library, or hash of the source, in the new run", null="where it vanished"),
        default=None,
    )
    same_inputs: bool | None = field(
        metadata=about("whether both runs tried the same inputs", null="where only one run has the result"),
        default=None,
    )
    both_tried: BothTried | None = field(
        metadata=about(
            "which inputs are compared, and `old_grade` and all other numbers are of",
            null="for all of either run, which are the same, or of which no part is known to be",
        ),
        default=None,
    )
    bits: Bits | None = field(
        metadata=about("how many results differ", null="where a run kept no digests of its results"), default=None
    )
    sentence: str | None = field(
        metadata=about(
            "what changed most, where, how many times, and the probable cause",
            null="where nothing did, or only one run has the result",
        ),
        default=None,
    )
    changes: tuple[Change, ...] = field(metadata=about("what differs, the worst first"), default=())
    speed: Speed | None = field(metadata=about("how fast", null="where a run did not time it"), default=None)
    in_turns: tuple[TimesInTurns, ...] | None = field(
        metadata=about(
            "how much longer it takes, by the length of the call; empty where a revision could not be timed",
            null="where nobody asked for it",
        ),
        default=None,
    )
    repeat: str | None = field(
        metadata=about(
            "the command that repeats the new result (of what vanished, the old one; of a revision, the comparison)",
            null="",
        ),
        default=None,
    )

    @property
    def key(self) -> str:
        """target/function/dtype."""
        return f"{self.target}/{self.function}/{self.dtype}"

    @property
    def is_slower(self) -> bool:
        """Whether calls of any length take longer than they may."""
        return any(each.is_slower for each in self.in_turns or ())


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run that is compared with others."""

    name: str = field(metadata=about("its folder, or the revision"))
    created: str = field(metadata=about("when it was stored"))
    command: str = field(metadata=about("the command that measured it"))
    plan: str = field(metadata=about("which inputs: name of the plan"))
    seed: Count = field(metadata=about("seed of the plan"))
    results: Count = field(metadata=about("how many results it has"))


@dataclass(frozen=True, slots=True)
class Difference:
    """Something else that the two runs do not have in common: plan, seed, machine, a version."""

    what: str = field(metadata=about('what it is: `"plan"`, `"processor"`, `"version of torch"`'))
    old: str | None = field(metadata=about("in the old run", null="where it is not there"))
    new: str | None = field(metadata=about("in the new run", null="where it is not there"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared."""

    old: ComparedRun = field(metadata=about("the old run"))
    new: ComparedRun = field(metadata=about("the new run"))
    differences: tuple[Difference, ...] = field(metadata=about("what else the runs do not have in common"))
    results: tuple[ResultComparison, ...] = field(metadata=about("every result of either run, the worst first"))

    def of_verdict(self, *verdicts: Verdict) -> list[ResultComparison]:
        """The results of these verdicts."""
        return [each for each in self.results if each.verdict in verdicts]
