"""Counts beside what they should be: p-values of groups and regions, moments of the outputs, rare outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .binomial import holm, of_sum, two_sided
from .bounds import clopper_pearson, fisher
from .counting import ALL, KEPT, CellCounts, Counts
from .features import Feature
from .independence import Tested
from .maps import Map
from .plan import Group
from .report import MapRegion, Tail

CONFIDENCE = 0.999  # of the intervals that are shown


@dataclass(frozen=True)
class Judged:
    """How many of n were kept where a share p should be."""

    what: str
    kept: int
    n: int
    p: float
    p_value: float

    def described(self) -> str:
        share = self.kept / self.n
        return (
            f"{self.what}: kept {self.kept} of {self.n} ({share:.9g}), expected {self.p:.9g}, off by "
            f"{share - self.p:+.3g} (p = {self.p_value:.2g})"
        )


@dataclass(frozen=True)
class Together:
    """All single x in one, so that many small errors show where none does by itself."""

    x: int
    p_value: float

    def described(self) -> str:
        return f"{self.x} single x together: kept too often or too rarely (p = {self.p_value:.2g})"


Test = Judged | Together | Feature | Tested


def rejected(tests: Sequence[Test], level: float) -> tuple[float, list[Test]]:
    """The smallest p-value, and the tests that Holm's procedure rejects, the clearest first."""
    p_values = [test.p_value for test in tests]
    wrong = [each for each in zip(p_values, tests, holm(p_values), strict=True) if each[2] <= level]
    return min(p_values), [test for _, test, _ in sorted(wrong, key=lambda each: each[0])]


def of_groups(of: Map, counts: Counts, tolerance: float) -> list[Judged]:
    """Each x by itself."""
    found = []
    for group, row in _rows(counts):
        at = f"rate = {of.rate!r}" if of.law == "constant" else f"x = {group.x:.6g}"
        p_value = two_sided(row[KEPT], row[ALL], group.p, group.q, tolerance)
        found.append(Judged(f"{group.region}, {at}", row[KEPT], row[ALL], group.p, p_value))
    return found


def of_cells(counts: CellCounts, tolerance: float) -> list[Test]:
    """Cells, each with all of its x, and by the one x that it held; regions; what may decide within cells."""
    cells = [
        _of_sum(f"{cell.region}, {cell.name}", row, p, q, tolerance)
        for cell, row, p, q in zip(counts.plan.cells, counts.table.tolist(), counts.p, counts.q, strict=True)
    ]
    held = _of_held(counts, tolerance)
    together = Together(len(held), fisher([each.p_value for each in held]))
    regions = [of_region(counts, region, tolerance) for region in counts.plan.regions]
    return [*cells, *held, *regions, together, *counts.scores.features()]


def _of_held(counts: CellCounts, tolerance: float) -> list[Judged]:
    held = counts.held_x
    assert held is not None
    found = []
    for cell, row, x, p, q in zip(
        counts.plan.cells, counts.held.tolist(), held.x.tolist(), held.p.tolist(), held.q.tolist(), strict=True
    ):
        p_value = two_sided(row[KEPT], row[ALL], p, q, tolerance)
        found.append(Judged(f"{cell.region}, x = {x:.9g}", row[KEPT], row[ALL], p, p_value))
    return found


def of_region(counts: CellCounts, region: str, tolerance: float) -> Judged:
    """All x of a region together."""
    where = [cell.region == region for cell in counts.plan.cells]
    row = counts.table[where].sum(0).tolist()
    return _of_sum(region, row, float(counts.p[where].sum()), float(counts.q[where].sum()), tolerance)


def _of_sum(what: str, row: list[int], p: float, q: float, tolerance: float) -> Judged:
    n = row[ALL]
    return Judged(what, row[KEPT], n, p / n, of_sum(row[KEPT], n, p / n, q / n, tolerance))


def region_of(of: Map, counts: CellCounts, judged: Judged) -> MapRegion:
    """A region with the moments of its outputs, which follow from how often each x was kept."""
    where = [cell.region == judged.what for cell in counts.plan.cells]
    kept, kept_square, due, due_square, x, square = counts.moments[:, where].sum(1).tolist()
    mean, variance = _moments(of, judged.n, kept, kept_square, x, square)
    mean_expected, variance_expected = _moments(of, judged.n, due, due_square, x, square)
    return MapRegion(
        region=judged.what, samples=judged.n, kept=judged.kept, kept_expected=judged.n * judged.p,
        mean=mean, mean_expected=mean_expected, variance=variance, variance_expected=variance_expected,
        p_value=judged.p_value,
    )  # fmt: skip


def tails_of(counts: Counts) -> list[Tail]:
    """Groups whose rarer outcome is what is of interest."""
    found = []
    for group, row in _rows(counts):
        kept_is_rare = group.p < group.q
        count = row[KEPT] if kept_is_rare else row[ALL] - row[KEPT]
        low, high = clopper_pearson(count, row[ALL], CONFIDENCE)
        p_value = two_sided(row[KEPT], row[ALL], group.p, group.q)
        found.append(Tail(
            outcome="kept" if kept_is_rare else "dropped", probability=min(group.p, group.q), samples=row[ALL],
            count=count, low=low, high=high, p_value=p_value,
        ))  # fmt: skip
    return found


def _moments(of: Map, n: int, kept: float, kept_square: float, x: float, square: float) -> tuple[float, float]:
    """Mean and variance of n outputs: sums of x and x^2, over those that are kept and over all."""
    scale = 1 / (1 - of.rate) if of.is_scaled else 1.0
    if of.drops_to_zero:
        mean, second = scale * kept / n, scale**2 * kept_square / n
    else:  # x or -x
        mean, second = (2 * kept - x) / n, square / n
    return mean, max(0.0, second - mean**2)


def _rows(counts: Counts) -> Iterator[tuple[Group, list[int]]]:
    return zip(counts.plan.groups, counts.table.tolist(), strict=True)
