"""A random function verified: phase after phase, until one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..errors import TargetFailure
from ..targets.base import Target
from . import bits
from . import plan as plans
from .counting import CellCounts, Counts, counted, counted_cells
from .hosting import hosted
from .independence import KEPT, Independence
from .independence import samples as independence_samples
from .judging import Judged, Test, of_cells, of_groups, of_region, region_of, rejected, tails_of
from .maps import Map
from .plan import SHARES, CellPlan, PhasePlan
from .planted import simulated
from .points import drawn_samples
from .repeats import Repeats
from .repeats import samples as repeats_samples
from .report import MapRegion, MapVerdict, Phase, Planted, Tail
from .request import MapRequest
from .target import facts
from .target import seed as seeded
from .values import CALLS, INPUTS, LENGTHS, ZEROS, Signs, of_counts, of_repetition, of_specials, of_values

MOST_FINDINGS = 10
# Beyond the first seed, farther apart than a phase has calls: some targets need a seed for each call.
FIRST_SEED, FREQUENCY_SEED, TAIL_SEED, NEXT_TAIL = 1 << 21, 1 << 22, 1 << 23, 1 << 18
Advance = Callable[[str, int], None]


def _silent(phase: str, samples: int) -> None:
    return None


@dataclass(frozen=True)
class Planned:
    """What a request comes to, before anything is called; `rated`: tails by rates, if the target takes one; `samples`:
    of all phases; `planted`: what simulated runs find."""

    frequencies: CellPlan
    first: CellPlan
    tails: PhasePlan
    rated: list[tuple[float, PhasePlan]]
    samples: int
    planted: tuple[Planted, ...]


def planned(request: MapRequest, simulating: bool = True) -> Planned:
    """How many samples are drawn where, and what simulated runs of that size find."""
    frequencies = plans.frequencies(request)
    constant = request.judged_as().law == "constant"
    rated = plans.rates(request) if constant else []
    first, tails = plans.first_stage(frequencies, request), plans.tails(request)
    samples = sum(plan.samples for plan in (tails, *(plan for _, plan in rated)))
    for number, plan in ((FIRST_SEED, first), (FREQUENCY_SEED, frequencies)):
        samples += drawn_samples(request.judged_as(), request.dtype, plan, number + request.seed)
    samples += CALLS * INPUTS + ZEROS + 2 * sum(LENGTHS) + independence_samples(request) + repeats_samples(request)
    return Planned(frequencies, first, tails, rated, samples, simulated(request, frequencies) if simulating else ())


def verify(request: MapRequest, advance: Advance = _silent) -> MapVerdict:
    """Every phase in turn; a failure of the target ends it.

    Parameters
    ----------
    advance : called with the name of a phase and how many elements were drawn, after each call

    Raises
    ------
    UsageError, MissingMeasurement
        The target cannot be loaded.
    """
    work = _Work(request, planned(request), advance)
    try:
        with hosted(request) as target:
            work.run(target)
    except TargetFailure as failure:
        work.failure = failure
    return work.verdict()


@dataclass
class _Work:
    request: MapRequest
    planned: Planned
    advance: Advance
    phases: list[Phase] = field(default_factory=list)
    regions: list[MapRegion] = field(default_factory=list)
    tails: list[Tail] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    signs: Signs = field(default_factory=Signs)
    seeded_by: str | None = None
    version: str = ""
    takes_rate: bool = False
    failure: TargetFailure | None = None

    def run(self, target: Target) -> None:
        request = self.request
        known: dict[str, Any] = target.applied(1, facts, request.dtype)
        self.seeded_by, self.version, self.takes_rate = known["seeded_by"], target.version, known["takes_rate"]
        steps: dict[str, Callable[[Target, _Drawn], None]] = {"values": self._values}
        if request.seeded:
            steps["reproducibility"] = self._reproducibility
        first, frequencies = (
            partial(self._count, plan=plan, number=number)
            for plan, number in ((self.planned.first, FIRST_SEED), (self.planned.frequencies, FREQUENCY_SEED))
        )
        steps |= {"independence": self._independence, "repeats": self._repeats, "first frequencies": first}
        if self.planned.tails.groups or (self.planned.rated and known["takes_rate"]):
            steps["tails"] = self._tails
        steps["frequencies"] = frequencies
        for name, step in steps.items():
            drawn = _Drawn(name)
            step(target, drawn)
            self.phases.append(drawn.phase(self._level(name)))
            if drawn.findings and not request.keep_going:
                break

    # ---- phases ----

    def _values(self, target: Target, drawn: _Drawn) -> None:
        drawn.findings, drawn.samples = of_values(target, self.request, self.signs)
        self.notes += of_specials(target, self.request)
        self.advance(drawn.name, drawn.samples)

    def _reproducibility(self, target: Target, drawn: _Drawn) -> None:
        drawn.findings, drawn.samples = of_repetition(target, self.request)
        self.advance(drawn.name, drawn.samples)

    def _independence(self, target: Target, drawn: _Drawn) -> None:
        draws = Independence(target, self.request)
        tests = draws.tests(lambda n: self.advance(drawn.name, n))
        drawn.samples, drawn.findings = draws.draw.samples, list(draws.draw.strange)
        self._judge(drawn, tests, self._level(drawn.name))
        if any(each.startswith(KEPT) for each in drawn.findings):
            drawn.findings.sort(key=lambda each: not each.startswith(KEPT))
            self.notes.append(
                "how many are kept is not what is due: tests of independence take it to be, and fail of that alone"
            )

    def _repeats(self, target: Target, drawn: _Drawn) -> None:
        draws = Repeats(target, self.request, self.seeded_by or "", self.takes_rate)
        level = self._level(drawn.name) / 2  # one half for what comes twice
        tests = draws.tests(lambda n: self.advance(drawn.name, n), level)
        drawn.samples, drawn.findings = draws.draw.samples, [*draws.draw.strange, *draws.findings]
        self._judge(drawn, tests, level)
        self.notes += dict.fromkeys(draws.notes)

    def _count(self, target: Target, drawn: _Drawn, plan: CellPlan, number: int) -> None:
        of, request = self.request.judged_as(), self.request
        number += request.seed
        target.applied(1, seeded, request.dtype, number, of.rate)
        counts = counted_cells(
            target, of, request.dtype, plan, number, request.tolerance, lambda n: self.advance(drawn.name, n)
        )
        self._note(drawn, counts)
        regions = [of_region(counts, region, request.tolerance) for region in plan.regions]
        self.regions = [region_of(of, counts, judged) for judged in regions if not judged.what.startswith("large")]
        self._judge(drawn, of_cells(counts, request.tolerance), self._level(drawn.name))

    def _tails(self, target: Target, drawn: _Drawn) -> None:
        of, judged = self.request.judged_as(), list[Judged]()
        for place, (rate, plan) in enumerate(self.planned.rated or [(of.rate, self.planned.tails)]):
            at_rate = Map(of.name, rate, of.scaled)
            counts = self._counted(target, drawn, at_rate, plan, TAIL_SEED + place * NEXT_TAIL)
            self.tails += tails_of(counts)
            judged += of_groups(at_rate, counts, self.request.tolerance)
        self._judge(drawn, judged, self._level(drawn.name))

    def _counted(self, target: Target, drawn: _Drawn, of: Map, plan: PhasePlan, number: int) -> Counts:
        request = self.request
        number += request.seed
        target.applied(1, seeded, request.dtype, number, of.rate)
        counts = counted(target, of, request.dtype, plan, number, lambda n: self.advance(drawn.name, n))
        self._note(drawn, counts)
        return counts

    def _note(self, drawn: _Drawn, counts: Counts | CellCounts) -> None:
        """Samples, and outputs that are neither kept nor dropped, or the wrong zero."""
        drawn.samples += counts.samples
        drawn.findings += of_counts(self.request, counts)
        if self.request.judged_as().drops_to_zero:
            self.signs.add_counts(counts)
            drawn.findings += [each for each in self.signs.findings() if each not in drawn.findings]

    def _judge(self, drawn: _Drawn, tests: Sequence[Test], level: float) -> None:
        drawn.tests = len(tests)
        drawn.smallest_p, failed = rejected(tests, level)
        drawn.findings += [test.described() for test in failed]

    def _level(self, phase: str) -> float:
        """Probability of a false alarm in all tests of a phase."""
        return SHARES.get(phase, 0.0) * self.request.false_alarm

    def verdict(self) -> MapVerdict:
        request, of = self.request, self.request.judged_as()
        return MapVerdict(
            target=request.target, version=self.version, map=of.name, described=of.described(), dtype=request.dtype,
            rate=of.rate if of.law == "constant" else None, seeded_by=self.seeded_by, seed=request.seed,
            passed=self.failure is None and all(phase.passed for phase in self.phases),
            failure=None if self.failure is None else " ".join(str(self.failure).split()),
            failure_kind=(self.failure.kind or "exception") if self.failure else None,
            false_alarm=request.false_alarm, bias=request.bias, power=request.power, min_bits=request.min_bits,
            samples=sum(phase.samples for phase in self.phases), samples_planned=self.planned.samples,
            zero_sign=self.signs.convention if of.drops_to_zero else None,
            bits_excluded=bits.excluded(self.tails, self._level("tails"), request.power),
            bits_found=bits.found(self.tails, self._level("tails")),
            planted=self.planned.planted, phases=tuple(self.phases), regions=tuple(self.regions),
            tails=tuple(self.tails), notes=tuple(self.notes),
        )  # fmt: skip


@dataclass
class _Drawn:
    """A phase that is being made."""

    name: str
    samples: int = 0
    tests: int = 0
    smallest_p: float | None = None
    findings: list[str] = field(default_factory=list)

    def phase(self, false_alarm: float) -> Phase:
        return Phase(
            name=self.name, passed=not self.findings, samples=self.samples, tests=self.tests,
            false_alarm=false_alarm, smallest_p=self.smallest_p, findings=tuple(self.findings[:MOST_FINDINGS]),
        )  # fmt: skip
