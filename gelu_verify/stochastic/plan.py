"""Where a map is sampled and how often: regions of x, far tails, and sizes from the bias that is to be found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ..formats import get_format, to_float64
from .binomial import samples_for
from .maps import Map, inputs
from .request import Request

POINTS = 16  # values of x in a region
SEGMENT = 1024  # elements in a row that have one x
SEGMENTS = 1024  # of a call, about
EDGES = (-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
CONSTANT_EDGES = (-4.0, 4.0)
# The smaller probability is about 2^-j; samples, for a bias of 1: j = 25 shows a Phi(x) that was rounded to float32,
# and j = 40 uniforms of 24 bits, whose smallest probability that is not 0 is 2^-24.
TAILS = {10: 0.25, 16: 0.5, 20: 1.5, 25: 7.5, 40: 2.0}
FIRST = 64  # the first stage draws one in so many
LEAST = 1 << 20  # samples of a region
# of the false alarms
SHARES = {"independence": 1 / 4, "first frequencies": 1 / 8, "tails": 1 / 8, "frequencies": 1 / 2}


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
class Plan:
    """Where one phase draws."""

    groups: tuple[Group, ...]

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(group.region for group in self.groups))

    @property
    def samples(self) -> int:
        return sum(-(-group.wanted // SEGMENT) * SEGMENT for group in self.groups)


def frequencies(request: Request) -> Plan:
    """The regions, each with as many samples as show the bias."""
    of = request.judged_as()
    pairs = list(zip(_edges(of), _edges(of)[1:], strict=False))
    places = {_named(low, high): _points(request.dtype, low, high) for low, high in pairs}
    count = len(places) * (POINTS + 1)
    level = SHARES["frequencies"] * request.false_alarm / count
    groups: list[Group] = []
    for region, bits in places.items():
        found = _groups(of, request.dtype, region, bits)
        p, q = (float(np.mean([getattr(group, name) for group in found])) for name in "pq")
        n = max(samples_for(request.bias - request.tolerance, p, q, level, request.power), _least(request))
        groups += [_with(group, math.ceil(n / POINTS)) for group in found]
    return Plan(tuple(groups))


def first_stage(plan: Plan, request: Request) -> Plan:
    """The same with one sample in so many: what is grossly wrong is found at once."""
    least = _least(request) // POINTS
    return Plan(tuple(_with(group, max(group.wanted // FIRST, least)) for group in plan.groups))


def tails(request: Request) -> Plan:
    """Inputs at which one outcome is rare, on both sides; none where the probability does not depend on x."""
    of = request.judged_as()
    groups: list[Group] = []
    for j in TAILS if of.law != "constant" else ():
        a = _place(of, 0.98 * 2.0**-j)
        for x in (-a, a):
            found = _groups(of, request.dtype, _tail_name(j, x < 0), inputs(request.dtype, np.array([x])))
            groups += [_with(group, _tail_samples(request, j)) for group in found]
    return Plan(tuple(groups))


def rates(request: Request) -> list[tuple[float, Plan]]:
    """As `tails`, of a map whose rate can be chosen: rates near 0 and near 1, of doubles."""
    of, found = request.judged_as(), []
    # a kept value is divided by 1 - rate
    chosen = [j for j in TAILS if j <= 12 or not (of.is_scaled and request.dtype == "float16")]
    x_bits = inputs(request.dtype, np.array([1.5]))
    for j in chosen:
        for rate in (0.98 * 2.0**-j, 1 - (1 - 2.0**-9) * 2.0**-j):
            at_rate = Map(of.name, rate, of.scaled)
            groups = _groups(at_rate, request.dtype, _tail_name(j, rate > 0.5), x_bits)
            wanted = _tail_samples(request, j)
            found.append((rate, Plan(tuple(_with(group, wanted) for group in groups))))
    return found


def _tail_samples(request: Request, j: int) -> int:
    return max(1 << 12, math.ceil(TAILS[j] / request.bias**2))


def _least(request: Request) -> int:
    """Samples of a region where few would show the bias: tails are worth more than that."""
    return max(1 << 12, min(LEAST, int(1 / request.bias**2)))


def _edges(of: Map) -> tuple[float, ...]:
    if of.law == "constant":
        return (0.0, CONSTANT_EDGES[1]) if of.name == "relu_dropout" else CONSTANT_EDGES
    return EDGES


def _named(low: float, high: float) -> str:
    return f"{low:g} < x < {high:g}"


def _tail_name(j: int, kept_is_rare: bool) -> str:
    return f"{'kept' if kept_is_rare else 'dropped'} with probability 2^-{j}"


def _points(dtype: str, low: float, high: float) -> np.ndarray:
    """Numbers of the dtype, evenly over the region."""
    return inputs(dtype, low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS)


def _groups(of: Map, dtype: str, region: str, x_bits: np.ndarray) -> list[Group]:
    found = []
    for bits, x in zip(x_bits.tolist(), to_float64(get_format(dtype), x_bits).tolist(), strict=True):
        p, q = of.probability(x)
        found.append(Group(region, bits, x, p, q, 0))
    return found


def _with(group: Group, wanted: int) -> Group:
    return Group(group.region, group.x_bits, group.x, group.p, group.q, wanted)


def _place(of: Map, tail: float) -> float:
    """The x > 0 beyond which the law has this much."""
    return -NormalDist().inv_cdf(tail) if of.law == "normal" else math.log1p(-tail) - math.log(tail)
