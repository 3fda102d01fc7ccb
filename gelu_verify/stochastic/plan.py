"""Where a map is sampled and how often: cells of x, far tails, and sizes from the bias that is to be found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from ..formats import get_format, to_float64
from .binomial import samples_for
from .maps import Map, of_dtype
from .request import MapRequest

CELLS = 16  # of a region, equally wide
SEGMENT = 1024  # elements in a row that have one x, of tails
SEGMENTS = 1024  # of a call, about
EDGES = (-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
CONSTANT_EDGES = (-4.0, 4.0)
TINY = 2.0**-8  # below it, x of all magnitudes
# The smaller probability is about 2^-j; samples, for a bias of 1: j = 25 shows a Phi(x) that was rounded to float32,
# and j = 40 uniforms of 24 bits, whose smallest probability that is not 0 is 2^-24.
TAILS = {10: 0.25, 16: 0.5, 20: 1.5, 25: 7.5, 40: 2.0}
FIRST = 64  # the first stage draws one in so many
LEAST, LEAST_FIRST = 1 << 20, 1 << 18  # samples of a region
BEYOND = 8  # the regions of tiny and of large x have one sample for so many of LEAST
# of the false alarms
SHARES = {
    "independence": 1 / 8, "repeats": 1 / 8, "first frequencies": 1 / 8, "tails": 1 / 8, "frequencies": 1 / 2,
}  # fmt: skip


@dataclass(frozen=True)
class Group:
    """One x, bits and value, of a region; `p` and `q`: kept, dropped; `wanted` samples."""

    region: str
    x_bits: int
    x: float
    p: float
    q: float
    wanted: int


@dataclass(frozen=True)
class PhasePlan:
    """Where one phase draws at single x."""

    groups: tuple[Group, ...]

    @property
    def samples(self) -> int:
        return sum(-(-group.wanted // SEGMENT) * SEGMENT for group in self.groups)


@dataclass(frozen=True)
class DrawnCell:
    """An interval of |x|, on one side of zero, in which x is drawn, evenly or `logarithmic`; `wanted` samples."""

    region: str
    low: float
    high: float
    negative: bool
    logarithmic: bool
    wanted: int

    @property
    def name(self) -> str:
        ends = (-self.high, -self.low) if self.negative else (self.low, self.high)
        return f"{ends[0]:g} < x < {ends[1]:g}"


@dataclass(frozen=True)
class CellPlan:
    """Where one phase draws at random x."""

    cells: tuple[DrawnCell, ...]

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.region for cell in self.cells))

    def wanted(self, region: str) -> int:
        return sum(cell.wanted for cell in self.cells if cell.region == region)


def frequencies(request: MapRequest) -> CellPlan:
    """The regions, each with as many samples as show the bias."""
    of = request.judged_as()
    pairs = list(pairwise(_edges(of)))
    level = SHARES["frequencies"] * request.false_alarm / tests(request)
    cells: list[DrawnCell] = []
    for low, high in pairs:
        middle = low + (high - low) * (np.arange(CELLS) + 0.5) / CELLS
        kept, dropped = of.probabilities(middle)
        share = np.maximum(kept * dropped, (kept * dropped).mean() / 2)  # so that an error shows as well in each cell
        share = share / share.sum() if share.any() else np.full(CELLS, 1 / CELLS)  # nothing is left to chance
        p, q = float(kept @ share), float(dropped @ share)
        n = max(samples_for(request.bias - request.tolerance, p, q, level, request.power), _least(request))
        cells += _cells(low, high, [math.ceil(n * each) for each in share.tolist()])
    return CellPlan((*cells, *_beyond(request, pairs[0][0] < 0)))


def tests(request: MapRequest) -> int:
    """How many tests of frequencies are corrected for one another, about: of cells, of an x in each, of regions, and of
    what may decide within a cell (`features.py`)."""
    regions = len(_edges(request.judged_as())) - 1 + 4
    return regions + 2 * (regions * CELLS) + 64


def first_stage(plan: CellPlan, request: MapRequest) -> CellPlan:
    """The same with one sample in so many: what is grossly wrong is found at once."""
    least = min(LEAST_FIRST, _least(request)) // CELLS
    return CellPlan(
        tuple(replace(cell, wanted=min(cell.wanted, max(cell.wanted // FIRST, least))) for cell in plan.cells)
    )


def _cells(low: float, high: float, wanted: list[int]) -> list[DrawnCell]:
    """Equal parts, each on one side of zero, with so many samples each."""
    found = []
    for k, each in enumerate(wanted):
        a, b = low + (high - low) * k / CELLS, low + (high - low) * (k + 1) / CELLS
        found.append(DrawnCell(_named(low, high), min(abs(a), abs(b)), max(abs(a), abs(b)), b <= 0, False, each))
    return found


def _beyond(request: MapRequest, both_sides: bool) -> list[DrawnCell]:
    """x of all magnitudes below TINY, and beyond the last edge, as far as numbers of the dtype go."""
    of, fmt = request.judged_as(), get_format(request.dtype)
    least, most = (float(fmt.fraction(bits)) for bits in normal_ends(of, request.dtype))
    edge = _edges(of)[-1]
    wanted = math.ceil(_least(request) / BEYOND / 4)
    found = []
    for negative in (True, False) if both_sides else (False,):
        sign = "-" if negative else ""
        for region, low, high in ((f"tiny {sign}x", least, TINY), (f"large {sign}x", edge, most)):
            middle = [low * (high / low) ** (k / 4) for k in range(5)]
            if high == most:  # where a tail still has something, and beyond
                middle = sorted({low, *(m for m in (low + 2, low + 6, 40.0) if m < high), high})
            for a, b in pairwise(middle):
                found.append(DrawnCell(region, a, b, negative, True, wanted))
    return found


def normal_ends(of: Map, dtype: str) -> tuple[int, int]:
    """Bits of the least and the largest x > 0 that are asked for: some binades within the normal numbers, because of
    subnormal numbers that are flushed, and scales."""
    fmt = get_format(dtype)
    binade = 1 << (fmt.precision - 1)
    high = fmt.infinity - FAR * binade
    if of.is_scaled:  # x/(1 - rate) must stay finite
        high -= (int(np.ceil(-np.log2(1 - of.rate))) + 1) * binade
    return FAR * binade, high


FAR = 4  # binades


def tails(request: MapRequest) -> PhasePlan:
    """Inputs at which one outcome is rare, on both sides; none where the probability does not depend on x."""
    of = request.judged_as()
    groups: list[Group] = []
    for j in TAILS if of.law != "constant" else ():
        a = _place(of, 0.98 * 2.0**-j)
        for x in (-a, a):
            groups.append(_tail(of, request, j, x, x < 0))
    return PhasePlan(tuple(groups))


def rates(request: MapRequest) -> list[tuple[float, PhasePlan]]:
    """As `tails`, of a map whose rate can be chosen: rates near 0 and near 1, of doubles."""
    of, found = request.judged_as(), []
    # a kept value is divided by 1 - rate
    chosen = [j for j in TAILS if j <= 12 or not (of.is_scaled and request.dtype == "float16")]
    for j in chosen:
        for rate in (0.98 * 2.0**-j, 1 - (1 - 2.0**-9) * 2.0**-j):
            at_rate = Map(of.name, rate, of.scaled)
            found.append((rate, PhasePlan((_tail(at_rate, request, j, 1.5, rate > 0.5),))))
    return found


def _tail(of: Map, request: MapRequest, j: int, x: float, kept_is_rare: bool) -> Group:
    """The number nearest to x, at which one outcome has a probability of about 2^-j."""
    bits = of_dtype(request.dtype, np.array([x]))
    region = f"{'kept' if kept_is_rare else 'dropped'} with probability 2^-{j}"
    rounded = float(to_float64(get_format(request.dtype), bits)[0])
    wanted = max(1 << 12, math.ceil(TAILS[j] / request.bias**2))
    return Group(region, int(bits[0]), rounded, *of.probability(rounded), wanted)


def _least(request: MapRequest) -> int:
    """Samples of a region where few would show the bias: tails are worth more than that."""
    return max(1 << 12, min(LEAST, int(1 / request.bias**2)))


def _edges(of: Map) -> tuple[float, ...]:
    if of.law == "constant":
        return (0.0, CONSTANT_EDGES[1]) if of.name == "relu_dropout" else CONSTANT_EDGES
    return EDGES


def _named(low: float, high: float) -> str:
    return f"{low:g} < x < {high:g}"


def _place(of: Map, tail: float) -> float:
    """The x > 0 beyond which the law has this much."""
    return -NormalDist().inv_cdf(tail) if of.law == "normal" else math.log1p(-tail) - math.log(tail)
