"""Many runs side by side: of each target, function and dtype how its numbers went from run to run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..errors import MissingMeasurement
from ..judge.changes import Verdict
from ..records.fields import Count, Name, Positive, Size, Ulp, about
from ..records.grades import ORDER
from ..records.parts import AccurateRange, Bound, FunctionName, Grade
from ..records.result import DtypeName
from ..runs.store import Run
from .comparison import BothTried, ComparedRun, ResultComparison
from .conditions import described
from .runs import compared

SameBits = Literal["first", "same", "changed", "unknown"]
Member = tuple[int, Run, int]  # place of the run, the run, place of the result in it


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One result of one run."""

    run: Count = field(metadata=about("which run: its place in `runs`, from 0"))
    version: str = field(metadata=about("version of the library, or hash of the source"))
    n: Positive = field(metadata=about("how many inputs"))
    bound: Bound = field(metadata=about("whether every input was tried"))
    grade: Grade | None = field(metadata=about("how good it is", null="in a run of an earlier version"))
    grade_bound: Bound | None = field(metadata=about("what the grade stands on", null="where there is none"))
    max_ulp: Ulp | None = field(metadata=about("largest error in ULP", null="where nothing was scored"))
    accurate_range: AccurateRange | None = field(metadata=about("where it is accurate", null="where there is none"))
    max_abs_error: Size | None = field(metadata=about("largest absolute error", null="where nothing was scored"))
    elements_per_s: Size | None = field(metadata=about("median elements per second", null="where it was not timed"))
    spread: Size | None = field(metadata=about("interquartile range over median of the times", null=""))
    results: SameBits = field(
        metadata=about(
            'beside the run before that has this result: `"same"` bits, `"changed"`, `"unknown"` (other inputs, or no '
            'digests were kept), or `"first"`'
        )
    )
    verdict: Verdict | None = field(
        metadata=about("beside that run, by the rules of `compare`: `status` of its results", null="of the first run"),
        default=None,
    )
    both_tried: BothTried | None = field(
        metadata=about(
            "on which inputs the results of both are, or differ", null="on all of both, where they are known"
        ),
        default=None,
    )


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One target, function and dtype over the runs that have it."""

    target: Name = field(metadata=about("name of the implementation"))
    function: FunctionName = field(metadata=about("what it was judged as"))
    dtype: DtypeName = field(metadata=about("in which dtype"))
    points: tuple[TrendPoint, ...] = field(metadata=about("one for each run that has it, the oldest first"))

    @property
    def changes(self) -> int:
        """How often its results, or its numbers, were others than in the run before."""
        return sum(self.differs(at) for at in range(1, len(self.points)))

    def differs(self, at: int) -> bool:
        """Whether a point is another one than that before it, but for its speed."""
        return self.points[at].verdict != "same"


@dataclass(frozen=True, slots=True)
class Trend:
    """Results over several runs."""

    runs: tuple[ComparedRun, ...] = field(metadata=about("the runs, the oldest first"))
    series: tuple[TrendSeries, ...] = field(metadata=about("those that change most often first"))


def trend(
    runs: Sequence[Run], targets: Collection[str] = (), functions: Collection[str] = (), dtypes: Collection[str] = ()
) -> Trend:
    """Verified runs by date; only results of these targets (or families), functions and dtypes.

    Raises
    ------
    MissingMeasurement : no result is left
    """
    dated = sorted(runs, key=lambda run: (str(run.manifest["created"]), len(run.path.name), run.path.name))
    found: dict[tuple[str, str, str], list[Member]] = {}
    for place, run in enumerate(dated):
        for index, record in enumerate(run.results):
            asked = (targets, {record.target, record.family}), (functions, {record.function}), (dtypes, {record.dtype})
            if all(not wanted or not names.isdisjoint(wanted) for wanted, names in asked):
                found.setdefault((record.target, record.function, record.dtype), []).append((place, run, index))
    if not dated:
        raise MissingMeasurement("there is no stored run that can be read")
    if not found:
        records = [record for run in dated for record in run.results]
        limits = ("target", targets), ("function", functions), ("dtype", dtypes)
        there = [", ".join(dict.fromkeys(getattr(each, name) for each in records)) for name, asked in limits if asked]
        accepted = f" (accepted: {'; '.join(there)})" if there else ""
        raise MissingMeasurement(f"none of {len(dated)} stored runs has such a result{accepted}")
    series = [TrendSeries(*key, _points(members)) for key, members in found.items()]
    series.sort(key=lambda each: (-each.changes, -_grade(each), each.target, each.function, each.dtype))
    return Trend(tuple(described(run) for run in dated), tuple(series))


def _grade(series: TrendSeries) -> int:
    grade = series.points[-1].grade
    return ORDER[grade] if grade else -1


def _points(members: list[Member]) -> tuple[TrendPoint, ...]:
    return tuple(_point(before, member) for member, before in zip(members, [None, *members], strict=False))


def _point(before: Member | None, member: Member) -> TrendPoint:
    place, run, index = member
    record = run.results[index]
    found = compared(before[1:], member[1:]) if before else None
    return TrendPoint(
        run=place,
        version=record.version,
        n=record.n,
        bound=record.bound,
        grade=record.grade,
        grade_bound=record.grade_bound,
        max_ulp=record.max_ulp,
        accurate_range=record.accurate_range,
        max_abs_error=record.max_abs_error.error if record.max_abs_error else None,
        elements_per_s=record.throughput.elements_per_s if record.throughput else None,
        spread=record.throughput.spread if record.throughput else None,
        results=_bits(found) if found else "first",
        verdict=found.verdict if found else None,
        both_tried=found.both_tried if found else None,
    )


def _bits(found: ResultComparison) -> SameBits:
    """What is never said of results whose inputs, or digests, are not known: that they are the same."""
    if not (found.same_inputs or found.both_tried):
        return "unknown"
    of_bits = {each.verdict for each in found.changes if each.what in ("bits", "failure")}
    if "unknown" in of_bits:
        return "unknown"
    return "changed" if of_bits or (found.both_tried and found.verdict != "same") else "same"
