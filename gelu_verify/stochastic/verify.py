"""A random function verified: phase after phase, until one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import TargetFailure
from ..fenv import in_default_environment
from ..targets.base import Target
from . import bits
from . import plan as plans
from .binomial import bias_for, holm, of_sum, two_sided
from .bounds import clopper_pearson
from .counting import ALL, KEPT, Counts, counted
from .hosting import hosted
from .independence import Independence, failures
from .independence import samples as independence_samples
from .maps import Map
from .plan import SHARES, Group, Plan
from .report import Phase, Region, Tail, Verdict
from .request import Request
from .target import facts
from .target import seed as seeded
from .values import CALLS, INPUTS, LENGTHS, Signs, of_counts, of_repetition, of_specials, of_values

MOST_FINDINGS = 10
Advance = Callable[[str, int], None]


def _silent(phase: str, samples: int) -> None:
    return None


@dataclass(frozen=True)
class Planned:
    """What a request comes to, before anything is called; `rated`: tails by rates, if the target takes one."""

    frequencies: Plan
    first: Plan
    tails: Plan
    rated: list[tuple[float, Plan]]
    independence: int

    @property
    def samples(self) -> int:
        tails = self.tails.samples + sum(plan.samples for _, plan in self.rated)
        values = CALLS * INPUTS + 2 * sum(LENGTHS)
        return self.frequencies.samples + self.first.samples + tails + self.independence + values


@in_default_environment
def planned(request: Request) -> Planned:
    """How many samples are drawn where."""
    frequencies = plans.frequencies(request)
    constant = request.judged_as().law == "constant"
    rated = plans.rates(request) if constant else []
    first = plans.first_stage(frequencies, request)
    return Planned(frequencies, first, plans.tails(request), rated, independence_samples(request))


@in_default_environment
def verify(request: Request, advance: Advance = _silent) -> Verdict:
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
    request: Request
    planned: Planned
    advance: Advance
    phases: list[Phase] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    tails: list[Tail] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    signs: Signs = field(default_factory=Signs)
    seeded_by: str | None = None
    failure: TargetFailure | None = None

    def run(self, target: Target) -> None:
        request = self.request
        known: dict[str, Any] = target.applied(1, facts, request.dtype)
        self.seeded_by = known["seeded_by"]
        steps: dict[str, Callable[[Target, _Drawn], None]] = {"values": self._values}
        if request.seeded:
            steps["reproducibility"] = self._reproducibility
        steps |= {"independence": self._independence, "first frequencies": self._first}
        if self.planned.tails.groups or (self.planned.rated and known["takes_rate"]):
            steps["tails"] = self._tails
        steps["frequencies"] = self._frequencies
        for name, step in steps.items():
            drawn = _Drawn(name)
            step(target, drawn)
            self.phases.append(drawn.phase(SHARES.get(name, 0.0) * request.false_alarm))
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
        drawn.smallest_p, failed = failures(tests, SHARES[drawn.name] * self.request.false_alarm)
        drawn.samples, drawn.tests = draws.samples, len(tests)
        drawn.findings = [test.described() for test in failed]

    def _first(self, target: Target, drawn: _Drawn) -> None:
        self._count(target, drawn, self.planned.first, seed=11)

    def _frequencies(self, target: Target, drawn: _Drawn) -> None:
        self._count(target, drawn, self.planned.frequencies, seed=12)

    def _count(self, target: Target, drawn: _Drawn, plan: Plan, seed: int) -> None:
        request, of = self.request, self.request.judged_as()
        target.applied(1, seeded, request.dtype, request.seed + seed, request.rate)
        counts = counted(target, of, request.dtype, plan, request.seed + seed, self._advanced(drawn))
        self._take(drawn, counts)
        self.regions = [self._region(of, counts, region, plan.level) for region in plan.regions]
        judged = [(f"x = {group.x:.6g}", *_of_group(group, row)) for group, row in _rows(counts)]
        judged += [(region.region, *_of_region(counts, region.region)) for region in self.regions]
        self._judge(drawn, judged, SHARES[drawn.name] * request.false_alarm)

    def _tails(self, target: Target, drawn: _Drawn) -> None:
        request, of = self.request, self.request.judged_as()
        plans_of_rates = self.planned.rated or [(request.rate, self.planned.tails)]
        judged = []
        for place, (rate, plan) in enumerate(plans_of_rates):
            at_rate = Map(of.name, rate, of.scaled) if self.planned.rated else of
            number = request.seed + 20 + place
            target.applied(1, seeded, request.dtype, number, rate)
            counts = counted(target, at_rate, request.dtype, plan, number, self._advanced(drawn))
            self._take(drawn, counts)
            self.tails += [_tail(group, row) for group, row in _rows(counts)]
            judged += [(f"{group.region}, {_at(at_rate, group)}", *_of_group(group, row)) for group, row in _rows(counts)]
        self._judge(drawn, judged, SHARES[drawn.name] * request.false_alarm)

    def _advanced(self, drawn: _Drawn) -> Callable[[int], None]:
        return lambda n: self.advance(drawn.name, n)

    def _take(self, drawn: _Drawn, counts: Counts) -> None:
        drawn.samples += counts.samples
        drawn.findings += of_counts(self.request, counts)
        if self.request.judged_as().drops_to_zero:
            self.signs.add_counts(counts)
            drawn.findings += [each for each in self.signs.findings() if each not in drawn.findings]

    def _judge(self, drawn: _Drawn, judged: list[tuple[str, int, int, float, float]], level: float) -> None:
        """(what, kept, of all, expected share, p-value)"""
        p_values = [each[-1] for each in judged]
        drawn.tests, drawn.smallest_p = len(judged), min(p_values)
        failed = [each for each, rejected in zip(judged, holm(p_values, level), strict=True) if rejected]
        for what, kept, n, p, p_value in sorted(failed, key=lambda each: each[-1]):
            drawn.findings.append(
                f"{what}: kept {kept} of {n} ({kept / n:.9g}), expected {p:.9g}, off by {kept / n - p:+.3g} (p = {p_value:.2g})"
            )

    def _region(self, of: Map, counts: Counts, region: str, level: float) -> Region:
        rows = [(group, row) for group, row in _rows(counts) if group.region == region]
        n = sum(row[ALL] for _, row in rows)
        kept, _, p, p_value = _of_region(counts, region)[0], n, *_of_region(counts, region)[2:]
        scale = 1 / (1 - of.rate) if of.is_scaled else 1.0
        moments = [(group.x * scale, row[KEPT] / n, row[ALL] / n * group.p) for group, row in rows]
        other = [0.0 if of.drops_to_zero else -group.x for group, _ in rows]
        shares = [row[ALL] / n for _, row in rows]
        mean, second = _moments(moments, other, shares, 1)
        expected, second_expected = _moments(moments, other, shares, 2)
        return Region(
            region=region, samples=n, kept=kept, kept_expected=n * p, mean=mean, mean_expected=expected,
            variance=max(0.0, second - mean**2), variance_expected=max(0.0, second_expected - expected**2),
            p_value=p_value, smallest_bias=bias_for(n, p, 1 - p, level, self.request.power),
        )  # fmt: skip

    def verdict(self) -> Verdict:
        request, of = self.request, self.request.judged_as()
        return Verdict(
            target=request.target, map=of.name, described=of.described(), dtype=request.dtype,
            rate=of.rate if of.law == "constant" else None, seeded_by=self.seeded_by, seed=request.seed,
            passed=self.failure is None and all(phase.passed for phase in self.phases),
            failure=None if self.failure is None else " ".join(str(self.failure).split()),
            failure_kind=(self.failure.kind or "exception") if self.failure else None,
            false_alarm=request.false_alarm, bias=request.bias, power=request.power,
            samples=sum(phase.samples for phase in self.phases), samples_planned=self.planned.samples,
            zero_sign=self.signs.convention if of.drops_to_zero else None,
            bits_excluded=bits.excluded(self.tails, SHARES["tails"] * request.false_alarm, request.power),
            bits_found=bits.found(self.tails, SHARES["tails"] * request.false_alarm),
            phases=tuple(self.phases), regions=tuple(self.regions), tails=tuple(self.tails), notes=tuple(self.notes),
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


def _rows(counts: Counts) -> Iterator[tuple[Group, list[int]]]:
    return zip(counts.plan.groups, counts.table.tolist(), strict=True)


def _of_group(group: Group, row: list[int]) -> tuple[int, int, float, float]:
    """Kept, of all, expected share, p-value."""
    return row[KEPT], row[ALL], group.p, two_sided(row[KEPT], row[ALL], group.p, group.q)


def _of_region(counts: Counts, region: str) -> tuple[int, int, float, float]:
    rows = [(group, row) for group, row in _rows(counts) if group.region == region]
    n, kept = sum(row[ALL] for _, row in rows), sum(row[KEPT] for _, row in rows)
    p = sum(row[ALL] * group.p for group, row in rows) / n
    q = sum(row[ALL] * group.q for group, row in rows) / n
    return kept, n, p, of_sum(kept, n, p, q)


def _moments(
    values: list[tuple[float, float, float]], other: list[float], shares: list[float], column: int
) -> tuple[float, float]:
    """Mean and mean square of outputs that are values[k][0] with a share, else other[k]."""
    parts = [(each[0], each[column], dropped, share) for each, dropped, share in zip(values, other, shares, strict=True)]
    mean = sum(value * kept + dropped * (share - kept) for value, kept, dropped, share in parts)
    return mean, sum(value**2 * kept + dropped**2 * (share - kept) for value, kept, dropped, share in parts)


def _at(of: Map, group: Group) -> str:
    return f"rate = {of.rate!r}" if of.law == "constant" else f"x = {group.x:.6g}"


def _tail(group: Group, row: list[int]) -> Tail:
    rare = group.p < group.q
    count = row[KEPT] if rare else row[ALL] - row[KEPT]
    low, high = clopper_pearson(count, row[ALL], 0.999)
    return Tail(
        outcome="kept" if rare else "dropped", probability=min(group.p, group.q), samples=row[ALL], count=count,
        low=low, high=high, p_value=two_sided(row[KEPT], row[ALL], group.p, group.q),
    )  # fmt: skip
