"""Counts beside what they should be: p-values of groups and regions, moments of the outputs, rare outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .binomial import holm, of_sum, two_sided
from .bounds import clopper_pearson
from .counting import ALL, KEPT, Counts
from .maps import Map
from .plan import Group
from .report import Region, Tail

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


def rejected(judged: list[Judged], level: float) -> list[Judged]:
    """Those that Holm's procedure rejects, the clearest first."""
    decided = zip(judged, holm([each.p_value for each in judged], level), strict=True)
    return sorted((each for each, is_wrong in decided if is_wrong), key=lambda each: each.p_value)


def of_groups(of: Map, counts: Counts, tolerance: float) -> list[Judged]:
    """Each x by itself."""
    found = []
    for group, row in _rows(counts):
        at = f"rate = {of.rate!r}" if of.law == "constant" else f"x = {group.x:.6g}"
        p_value = two_sided(row[KEPT], row[ALL], group.p, group.q, tolerance)
        found.append(Judged(f"{group.region}, {at}", row[KEPT], row[ALL], group.p, p_value))
    return found


def of_region(counts: Counts, region: str, tolerance: float) -> Judged:
    """All x of a region together."""
    rows = [(group, row) for group, row in _rows(counts) if group.region == region]
    n, kept = sum(row[ALL] for _, row in rows), sum(row[KEPT] for _, row in rows)
    p = sum(row[ALL] * group.p for group, row in rows) / n
    q = sum(row[ALL] * group.q for group, row in rows) / n
    return Judged(region, kept, n, p, of_sum(kept, n, p, q, tolerance))


def region_of(of: Map, counts: Counts, judged: Judged) -> Region:
    """A region with the moments of its outputs, which follow from how often each x was kept."""
    rows = [(group, row) for group, row in _rows(counts) if group.region == judged.what]
    mean, variance = _moments(of, judged.n, [(group, row[ALL], row[KEPT]) for group, row in rows])
    mean_expected, variance_expected = _moments(
        of, judged.n, [(group, row[ALL], row[ALL] * group.p) for group, row in rows]
    )
    return Region(
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


def _moments(of: Map, n: int, rows: list[tuple[Group, int, float]]) -> tuple[float, float]:
    """Mean and variance of n outputs: of each x how many there are, and how many of them are kept."""
    scale = 1 / (1 - of.rate) if of.is_scaled else 1.0
    mean = square = 0.0
    for group, count, kept in rows:
        if_kept, if_dropped = group.x * scale, 0.0 if of.drops_to_zero else -group.x
        mean += (if_kept * kept + if_dropped * (count - kept)) / n
        square += (if_kept**2 * kept + if_dropped**2 * (count - kept)) / n
    return mean, max(0.0, square - mean**2)


def _rows(counts: Counts) -> Iterator[tuple[Group, list[int]]]:
    return zip(counts.plan.groups, counts.table.tolist(), strict=True)
