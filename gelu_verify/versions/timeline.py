"""All releases of a library side by side: what each path gives, since which release, and what changed at which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated

from ..functions.regions import INTERVALS, REGIONS
from ..isa import LEVELS, at_level
from ..judge.changes import Verdict
from ..judge.sides import Change
from ..records.claims import error_text, grade_title
from ..records.fields import Line, Matching, Name, Positive, Ulp, about
from ..records.parts import AccurateRange, Bound, FunctionName, Grade, Point, Witness
from ..records.result import CheckName, DtypeName, Record
from .changes import PathChange, ReleaseStep, steps
from .libraries import LIBRARIES, Way, is_own, ways_of
from .store import History, KeptOutput, MeasuredRelease

Day = Annotated[str, Matching(r"\d{4}-\d{2}-\d{2}", "a day")]
BEGINNING_OF_BODY = -3  # a region ends there: what is below it is called the tail
_WORDS: dict[Verdict, str] = {
    "worse": "got worse", "mixed": "got better and worse",
    "vanished": "can no longer be called", "unknown": "changed, and cannot be judged", "changed": "gives other bits",
    "better": "got better", "appeared": "can be called", "same": "stayed the same",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRelease:
    """One release of the library."""

    version: Name = field(metadata=about("its version"))
    released: Day | None = field(metadata=about("day of the release", null="where the package index does not say"))
    measured: Day = field(metadata=about("day of the measurement"))
    failure: Line | None = field(metadata=about("why nothing was measured", null="where something was"))
    python: str = field(metadata=about("version of Python"))
    packages: Mapping[str, str] = field(metadata=about("what else was installed that may decide a result"))
    machine: Mapping[str, str] = field(metadata=about("processor, C library, system"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineState:
    """What a path gives, in all releases from the first to the last: the same bits."""

    first: Name = field(metadata=about("first release"))
    last: Name = field(metadata=about("last release"))
    releases: Positive = field(metadata=about("how many releases, of those that were measured"))
    verdict: Verdict | None = field(metadata=about("beside the releases before", null="of the first state"))
    outputs: Name = field(metadata=about("digest of the outputs: equal where these are"))
    grade: Grade | None = field(metadata=about("how good it is", null="where nothing was graded"))
    grade_bound: Bound | None = field(metadata=about("what the grade stands on", null="likewise"))
    sentence: str | None = field(metadata=about("the same in a sentence", null="likewise"))
    n: Positive = field(metadata=about("how many inputs were judged"))
    bound: Bound = field(metadata=about("whether that is every input"))
    max_ulp: Ulp | None = field(metadata=about("largest error in ULP", null="where nothing was scored"))
    body_ulp: Ulp | None = field(metadata=about("the same for x >= -3", null="likewise"))
    tail_ulp: Ulp | None = field(metadata=about("the same for x < -3", null="likewise"))
    witness: Witness | None = field(metadata=about("the input with the error `max_ulp`", null="likewise"))
    accurate_range: AccurateRange | None = field(metadata=about("where it is accurate", null="where there is none"))
    zero_from: Point | None = field(
        metadata=about("the x nearest to zero that gives zero wrongly", null="where there is none")
    )
    failed_checks: tuple[CheckName, ...] = field(metadata=about("checks that failed"))
    conventions: tuple[str, ...] = field(metadata=about("what differs by convention: `NaN at -inf`, ..."))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineSeries:
    """One path in one dtype, at the instruction-set levels at which it gave the same in every release."""

    target: Name = field(metadata=about("name of the path, as `gelu-verify list` has it"))
    function: FunctionName = field(metadata=about("what it was judged as"))
    dtype: DtypeName = field(metadata=about("in which dtype"))
    call: Name = field(metadata=about("what users write"))
    own: bool = field(metadata=about("whether it is the library's own, and not a formula written with its functions"))
    levels: tuple[str, ...] = field(metadata=about("instruction-set levels"))
    states: tuple[TimelineState, ...] = field(metadata=about("the oldest first"))
    absent: Mapping[str, str] = field(metadata=about("why a release has none: `{version: reason}`"))

    @property
    def key(self) -> str:
        return f"{self.target}/{self.function}/{self.dtype}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineChange:
    """What changed of one path in one dtype, at one release."""

    version: Name = field(metadata=about("the release"))
    released: Day | None = field(metadata=about("its day", null="where the package index does not say"))
    before: Name = field(metadata=about("the release that it is compared with"))
    target: Name = field(metadata=about("name of the path"))
    function: FunctionName = field(metadata=about("what it was judged as"))
    dtype: DtypeName = field(metadata=about("in which dtype"))
    own: bool = field(metadata=about("whether it is the library's own"))
    levels: tuple[str, ...] = field(metadata=about("at which instruction-set levels; empty: at all that were measured"))
    verdict: Verdict = field(metadata=about("by the rules of `compare`"))
    sentence: str = field(metadata=about("what changed"))
    is_slight: bool = field(
        metadata=about("whether no check and no grade differ, and no number by more than a tenth", key="slight")
    )
    changes: tuple[Change, ...] = field(metadata=about("every change, the worst first"))
    intervals: tuple[str, ...] = field(metadata=about("intervals of x in which any output has other bits"))
    old_outputs: Name | None = field(metadata=about("digest of the outputs before", null="where there were none"))
    new_outputs: Name | None = field(metadata=about("digest of the outputs since then", null="where there are none"))

    @property
    def key(self) -> str:
        return f"{self.target}/{self.function}/{self.dtype}"

    @property
    def at_levels(self) -> str:
        """ " at avx512"; empty where it is at all of them."""
        return f" at {', '.join(self.levels)}" if self.levels else ""

    @property
    def id(self) -> str:
        """Of its place on a page."""
        return "/".join((self.version, self.key, *self.levels))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The releases of one library."""

    library: Name = field(metadata=about("the library"))
    distribution: Name = field(metadata=about("what is installed"))
    releases: tuple[TimelineRelease, ...] = field(metadata=about("the oldest first"))
    series: tuple[TimelineSeries, ...] = field(metadata=about("the library's own paths first"))
    changes: tuple[TimelineChange, ...] = field(metadata=about("the newest first, then the worst"))

    @property
    def measured(self) -> list[TimelineRelease]:
        """Those of which anything was measured."""
        return [each for each in self.releases if each.failure is None]

    @property
    def own_changes(self) -> list[TimelineChange]:
        """Changes of the library's own paths: of what could be called before."""
        return [each for each in self.changes if each.own and each.verdict != "appeared"]


def timeline(history: History) -> Timeline:
    """Of everything that was measured of a library."""
    library, ways = LIBRARIES.get(history.library), ways_of(history.library)
    found = [_release(each) for each in history.releases]
    taken = steps(history)
    verdicts = {(step.release.version, each.key, each.level): each.verdict for step in taken for each in step.changes}
    digests = _digests(taken)
    series = [lane for key in history.keys for lane in _lanes(history, key, ways.get(key), verdicts, digests)]
    places = {key: place for place, key in enumerate(ways)}
    series.sort(key=lambda each: (not each.own, places.get(each.key, len(places))))
    changes = [each for step in reversed(taken) for each in _changes(step, ways, digests)]
    distribution = library.distribution if library else history.library
    return Timeline(
        library=history.library, distribution=distribution, releases=tuple(found), series=tuple(series),
        changes=tuple(changes),
    )  # fmt: skip


def _digests(taken: Iterable[ReleaseStep]) -> dict[str, str]:
    """By the digest of outputs that are those of a release before but for the bits of NaN, the digest of these."""
    found: dict[str, str] = {}
    for change in (change for step in taken for change in step.changes):
        if change.verdict == "same" and change.old and change.new and change.old.digest != change.new.digest:
            found.setdefault(change.new.digest, found.get(change.old.digest, change.old.digest))
    return found


def _release(release: MeasuredRelease) -> TimelineRelease:
    return TimelineRelease(
        version=release.version, released=release.released or None, measured=release.measured,
        failure=release.failure or None, python=release.python, packages=release.packages, machine=release.machine,
    )  # fmt: skip


# ---- a path ----------------------------------------------------------------------------------------


def _lanes(
    history: History,
    key: str,
    way: Way | None,
    verdicts: Mapping[tuple[str, str, str], Verdict],
    digests: Mapping[str, str],
) -> Iterator[TimelineSeries]:
    """Levels that gave the same outputs in every release are one."""
    asked = [each for each in history.releases if key in each.results or key in each.absent]
    outputs = {
        level: [(each, history.output(each, key, level)) for each in asked]
        for level in sorted({level for each in asked for level in each.results.get(key, {})}, key=level_place)
    }
    alike: dict[tuple[str, ...], list[str]] = {}
    for level, found in outputs.items():
        alike.setdefault(tuple(_digest(output, digests) or "" for _, output in found), []).append(level)
    target, function, dtype = key.rsplit("/", 2)
    for levels in alike.values():
        found = outputs[levels[0]]
        record = next(output.record for _, output in found if output)
        yield TimelineSeries(
            target=target, function=function, dtype=dtype, call=_call(way, record), own=is_own(record),
            levels=tuple(levels), states=tuple(_states(found, key, levels[0], verdicts, digests)),
            absent={
                each.version: each.absent.get(key) or each.absent.get(at_level(key, levels[0]), "")
                for each, output in found
                if output is None
            },
        )  # fmt: skip


def level_place(level: str) -> tuple[int, str]:
    """By which levels are sorted, the lowest first."""
    return ([*LEVELS].index(level) if level in LEVELS else len(LEVELS), level)


def _call(way: Way | None, record: Record) -> str:
    """What users write; of a derivative, of what it is."""
    text = way.expression if way else record.expression or ""
    opened = str(way.opening.get("expression", "")) if way else ""
    if not text and opened.startswith("gradient(lambda x: "):
        return f"gradient of {opened.removeprefix('gradient(lambda x: ').removesuffix(')(x)')}"
    return text or record.target


def _states(
    found: Sequence[tuple[MeasuredRelease, KeptOutput | None]],
    key: str,
    level: str,
    verdicts: Mapping[tuple[str, str, str], Verdict],
    digests: Mapping[str, str],
) -> Iterator[TimelineState]:
    is_first = True
    for digest, run in groupby(found, key=lambda each: _digest(each[1], digests)):
        members, outputs = zip(*run, strict=True)
        if digest is None:
            continue
        verdict = None if is_first else verdicts.get((members[0].version, key, level), "unknown")
        yield _state(members, outputs[0], digest, verdict)
        is_first = False


def _state(
    releases: Sequence[MeasuredRelease], output: KeptOutput, digest: str, verdict: Verdict | None
) -> TimelineState:
    record = output.record
    tail = [each.name for each in REGIONS if each.upper is not None and each.upper <= BEGINNING_OF_BODY]
    errors = {part.region: part.max_ulp for part in record.regions or () if part.max_ulp is not None}
    return TimelineState(
        first=releases[0].version, last=releases[-1].version, releases=len(releases), verdict=verdict,
        outputs=digest, grade=record.grade, grade_bound=record.grade_bound, sentence=record.sentence,
        n=record.n, bound=record.bound, max_ulp=record.max_ulp, witness=record.witness,
        body_ulp=max((value for name, value in errors.items() if name not in tail), default=None),
        tail_ulp=max((value for name, value in errors.items() if name in tail), default=None),
        accurate_range=record.accurate_range, zero_from=record.zero_from,
        failed_checks=tuple(sorted(record.failed_checks)), conventions=record.conventions or (),
    )  # fmt: skip


# ---- changes ---------------------------------------------------------------------------------------


def _changes(step: ReleaseStep, ways: Mapping[str, Way], digests: Mapping[str, str]) -> Iterator[TimelineChange]:
    """Levels at which the same changed are one; the library's own paths first."""
    found: dict[tuple[str, str | None, str | None], list[PathChange]] = {}
    for each in step.changed:
        found.setdefault((each.key, _digest(each.old, digests), _digest(each.new, digests)), []).append(each)
    made = [_change(step, members, ways, digests) for members in found.values()]
    return iter(sorted(made, key=lambda each: not each.own))


def _digest(output: KeptOutput | None, digests: Mapping[str, str]) -> str | None:
    return digests.get(output.digest, output.digest) if output else None


def _change(
    step: ReleaseStep, members: Sequence[PathChange], ways: Mapping[str, Way], digests: Mapping[str, str]
) -> TimelineChange:
    assert step.before is not None
    first = members[0]
    output = first.new or first.old
    assert output is not None
    way = ways.get(first.key)
    at_all = {*step.release.results.get(first.key, {}), *step.before.results.get(first.key, {})}
    levels = tuple(sorted((each.level for each in members), key=level_place))
    target, function, dtype = first.key.rsplit("/", 2)
    return TimelineChange(
        version=step.release.version, released=step.release.released or None, before=step.before.version,
        target=target, function=function, dtype=dtype, own=is_own(output.record),
        levels=() if at_all == {*levels} else levels, verdict=first.verdict,
        sentence=f"{_call(way, output.record)} {dtype} {_what(first)}",
        is_slight=first.is_slight, changes=first.changes, intervals=first.intervals,
        old_outputs=_digest(first.old, digests), new_outputs=_digest(first.new, digests),
    )  # fmt: skip


def _what(change: PathChange) -> str:
    """ "got better: broken to accurate, from >=5.4e6 to 30 ULP"."""
    said = _WORDS[change.verdict]
    if change.old is None or change.new is None:
        there = change.new or change.old
        assert there is not None
        return f"{said}: {grade_title(there.record.grade)}" if change.new else said
    sides = (change.old.record, change.new.record)
    grades = [grade_title(each.grade) for each in sides]
    errors = [error_text(each.max_ulp, each.bound).removeprefix("=") for each in sides]
    parts = [f"{grades[0]} to {grades[1]}"] if grades[0] != grades[1] else []
    if errors[0] != errors[1]:
        parts.append(f"from {errors[0]} to {errors[1]} ULP")
    if parts:
        return f"{said}: {', '.join(parts)}"
    worse, better, other = (_first_text(change, verdict) for verdict in ("worse", "better", change.verdict))
    if change.verdict == "mixed":
        return f"got worse ({worse}) and better ({better})"
    where = _where(change.intervals)
    return f"{said}: {other}" if other else f"{said} {where}" if where else said


def _first_text(change: PathChange, verdict: str) -> str:
    """What got worse most, or better; of a check only that it fails."""
    found = next((each for each in change.changes if each.verdict == verdict), None)
    if found is None:
        return ""
    return found.text.partition(": ")[0] if found.what == "check" else found.text.replace(" -> ", " to ")


def _where(intervals: Sequence[str], most: int = 3) -> str:
    """ "for x in [1,1.5), [2,3)"."""
    if len(intervals) > most:
        return f"in {len(intervals)} of {len(INTERVALS)} intervals of x"
    return f"for x in {', '.join(intervals)}" if intervals else ""
