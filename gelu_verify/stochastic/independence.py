"""Whether elements are independent: of their lane, of their neighbours near and far, of other calls, of other seeds.

Half of the calls have one x, the others an x for each element, all drawn by the seed where P(kept) is between 0.3 and
0.7. Counts are of a place; of a lane; of pairs that have no element in common, which agree with probability
p p' + (1 - p) (1 - p'); of blocks whose number of kept elements lies far from its mean, which is what the variance of
sums depends on. With one x they are exactly binomial, with several a sum of trials whose probabilities are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..targets.base import Target
from .binomial import log_probability, of_sum, two_sided
from .drawing import Draw, DrawnInputs
from .request import MapRequest

LANES = 64
LONG = 1 << 20  # elements of a long call, and 1064 more: chunks of threads end in it, and strips of any width do
SHORT, REPEATS = 4096 + 37, 48  # for places, twice: each must be seen often enough
CALLS, SEEDS = 4, (1, 2, 1 << 20)  # long ones; seeds, beyond the first
LAGGED = 1 << 16  # elements that are compared at all lags
FARTHEST = 2  # of these, each way, that are looked at again
SHIFTS = (0, 1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256, 1024, 4096, 65536)
NEAR = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 96)
FAR = tuple(1 << k for k in range(7, 20))
PARTS = tuple(range(2, 17))  # a call in so many equal parts, as threads have them
BLOCKS = (32, 64, 256, 1024, 4096)


@dataclass(frozen=True)
class CallSizes:
    """Elements of a long call, and of a short one."""

    long: int
    short: int

    @classmethod
    def of(cls, request: MapRequest) -> CallSizes:
        """Full ones for a bias of 1e-3 or less."""
        long = int(min(LONG, max(1 << 14, 1 / request.bias**2)))
        return cls(long + 1024 + 40, SHORT if long == LONG else SHORT // 8)


KEPT = "kept in all calls"  # what a test of how many are kept is called


@dataclass(frozen=True)
class Tested:
    """One exact test: `count` of `n`, each with a probability within `tolerance` of p, or, where `mixed`, with
    probabilities of which p is the mean."""

    what: str
    count: int
    n: int
    p: float
    q: float
    tolerance: float
    mixed: bool = False

    @property
    def p_value(self) -> float:
        test = of_sum if self.mixed else two_sided
        return test(self.count, self.n, self.p, self.q, self.tolerance)

    def described(self) -> str:
        return f"{self.what}: {self.count} of {self.n}, expected {self.n * self.p:.6g} (p = {self.p_value:.2g})"


@dataclass(frozen=True)
class DrawnCall:
    """One call, drawn."""

    inputs: DrawnInputs
    kept: np.ndarray


class Independence:
    """Draws what the tests need, and makes them."""

    def __init__(self, target: Target, request: MapRequest) -> None:
        self.draw, self._request = Draw(target, request, 1), request
        self._sizes = CallSizes.of(request)
        self._tolerance = request.tolerance

    def tests(self, advance: Callable[[int], None]) -> list[Tested]:
        """All of them; `advance` after each call."""
        base, found, long = self._request.seed, list[Tested](), self._sizes.long
        self.draw.seed(base)
        for inputs in (self.draw.one(self._sizes.short), self.draw.mixed(self._sizes.short)):
            found += self._of_places(inputs, advance)
        one, mixed = self.draw.one(long), self.draw.mixed(long)
        calls = [self._call(inputs, advance) for inputs in (one, one, mixed, mixed)]
        for these in (calls[:2], calls[2:]):
            found += self._of_all(these)
            found += self._of_lanes(these)
            found += self._of_distances(these)
            found += self._of_pair("two calls,", *these)
        found += self._of_blocks(calls[:2])
        found += self._of_lag("elements of one call,", calls[2], calls[2])
        if self._request.seeded:
            seeds = []
            for k in SEEDS:
                self.draw.seed(base + k)
                seeds.append(self._call(mixed, advance))
            for a, b, names in zip(seeds, seeds[1:], pairwise(SEEDS), strict=False):
                found += self._of_pair(f"seeds {base + names[0]} and {base + names[1]},", a, b)
        return found

    def _call(self, inputs: DrawnInputs, advance: Callable[[int], None]) -> DrawnCall:
        kept = self.draw.mask(inputs)
        advance(len(kept))
        return DrawnCall(inputs, kept)

    def _of_places(self, inputs: DrawnInputs, advance: Callable[[int], None]) -> Iterator[Tested]:
        n = len(inputs.x_bits)
        counts = np.zeros(n, np.int64)
        for _ in range(REPEATS):
            counts += self.draw.mask(inputs)
            advance(n)
        yield from of_places(f"of {n}", counts, REPEATS, inputs, self._tolerance)

    def _of_all(self, calls: list[DrawnCall]) -> Iterator[Tested]:
        """How many are kept, which all other tests take to be right."""
        inputs, n = calls[0].inputs, sum(len(call.kept) for call in calls)
        what, count = (
            f"{KEPT}, of {'many' if inputs.is_mixed else 'one'} x",
            int(sum(call.kept.sum() for call in calls)),
        )
        p, q = float(inputs.p.mean()), float(inputs.q.mean())
        yield Tested(what, count, n, p, q, self._tolerance, inputs.is_mixed)

    def _of_lanes(self, calls: list[DrawnCall]) -> Iterator[Tested]:
        whole = self._sizes.long // LANES * LANES
        counts = sum(call.kept[:whole].reshape(-1, LANES).sum(0) for call in calls)
        inputs, n = calls[0].inputs, len(calls) * whole // LANES
        p, q = (
            each[:whole].reshape(-1, LANES).mean(0) if inputs.is_mixed else np.full(LANES, each[0])
            for each in (inputs.p, inputs.q)
        )
        for lane, count in enumerate(np.asarray(counts).tolist()):
            what = f"lane {lane} of {LANES}"
            yield Tested(what, count, n, float(p[lane]), float(q[lane]), self._tolerance, inputs.is_mixed)

    def _of_blocks(self, calls: list[DrawnCall]) -> Iterator[Tested]:
        """How many blocks are farther from the mean than one standard deviation; of calls with one x."""
        p, q = (float(each[0]) for each in (calls[0].inputs.p, calls[0].inputs.q))
        for size in BLOCKS:
            whole = self._sizes.long // size * size
            counts = np.concatenate([call.kept[:whole].reshape(-1, size).sum(1) for call in calls])
            low, high, outside = spread(size, p, q)
            far = int(((counts < low) | (counts > high)).sum())
            # a binomial law of so many trials moves by the change of p times their number, at most
            tolerance = size * self._tolerance
            yield Tested(f"variance of blocks of {size}", far, len(counts), outside, 1 - outside, tolerance)

    def _of_distances(self, calls: list[DrawnCall]) -> Iterator[Tested]:
        n, inputs = self._sizes.long, calls[0].inputs
        for distance in sorted({*NEAR, *(far for far in FAR if far < n), *(n // parts for parts in PARTS)}):
            agreed = pairs = 0
            for call in calls:
                a, b = _apart(call.kept, distance)
                agreed += int((a == b).sum())
                pairs += a.size
            p, other = _apart(inputs.p, distance) if inputs.is_mixed else (inputs.p, inputs.p)
            yield self._agreement(f"elements {distance} apart", agreed, pairs, p, other)

    def _of_pair(self, what: str, one: DrawnCall, other: DrawnCall) -> Iterator[Tested]:
        """The same inputs: elements at the same place, and shifted ones, also by as much as their first parts say."""
        n, p = len(one.kept), one.inputs.p
        for shift in (shift for shift in SHIFTS if shift < n):
            agreed = int((one.kept[shift:] == other.kept[: n - shift]).sum())
            apart = (p[shift:], p[: n - shift]) if one.inputs.is_mixed else (p, p)
            yield self._agreement(f"{what} {shift} elements apart", agreed, n - shift, *apart)
        yield from self._of_lag(what, one, other)
        yield from self._of_lag(what, other, one)

    def _of_lag(self, what: str, one: DrawnCall, other: DrawnCall) -> Iterator[Tested]:
        """The lags at which the first parts of two calls, or of one, are most alike: whether the rest is alike, too."""
        n, p = len(one.kept), np.broadcast_to(one.inputs.p, len(one.kept))
        part = min(LAGGED, n // 8)
        start = 2 * part  # from there on nothing was looked at
        for lag in _farthest(one.kept[:part] - p[:part], other.kept[:start] - p[:start], one is other):
            if one is other:  # pairs that have no element in common
                (a, b), (p_a, p_b) = _apart(one.kept[start:], lag), _apart(p[start:], lag)
            else:
                a, b, p_a, p_b = (
                    one.kept[start : n - lag],
                    other.kept[start + lag :],
                    p[start : n - lag],
                    p[start + lag :],
                )
            agreed = int((a == b).sum())
            yield self._agreement(f"{what} {lag} elements on", agreed, a.size, p_a, p_b, True)

    def _agreement(
        self, what: str, agreed: int, pairs: int, p: np.ndarray, other: np.ndarray, mixed: bool = False
    ) -> Tested:
        """`p`, `other`: of the elements of each pair, or of all."""
        both = "ij,ij->" if p.ndim > 1 else "i,i->"
        differ = float(p.mean() + other.mean() - 2 * np.einsum(both, p, other) / p.size)
        is_mixed = mixed or p.size > 1
        return Tested(f"agreement of {what}", agreed, pairs, 1 - differ, differ, 2 * self._tolerance, is_mixed)


def of_places(what: str, counts: np.ndarray, calls: int, inputs: DrawnInputs, tolerance: float) -> Iterator[Tested]:
    """How often each place was kept in so many calls with the same inputs."""
    p, q = (np.broadcast_to(each, len(counts)).tolist() for each in (inputs.p, inputs.q))
    for place, count in enumerate(counts.tolist()):
        yield Tested(f"place {place} {what}", count, calls, p[place], q[place], tolerance)


def samples(request: MapRequest) -> int:
    """Elements that are drawn."""
    sizes = CallSizes.of(request)
    return 2 * REPEATS * sizes.short + sizes.long * (CALLS + (len(SEEDS) if request.seeded else 0))


def _apart(call: np.ndarray, distance: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of elements that far apart, no element in two of them."""
    if 2 * distance > len(call):
        return call[: len(call) - distance], call[distance:]
    whole = len(call) // (2 * distance) * (2 * distance)
    pairs = call[:whole].reshape(-1, 2, distance)
    return pairs[:, 0], pairs[:, 1]


@lru_cache(maxsize=64)
def spread(size: int, p: float, q: float) -> tuple[int, int, float]:
    """An interval of about one standard deviation around the mean of a block, and the probability of being outside."""
    mean, deviation = size * p, float(np.sqrt(size * p * q))
    low, high = int(np.ceil(mean - deviation)), int(np.floor(mean + deviation))
    if p <= 0 or q <= 0:
        return low, high, 0.0
    inside = sum(np.exp(log_probability(k, size, p, q)) for k in range(max(low, 0), min(high, size) + 1))
    return low, high, float(1 - inside)


def _farthest(one: np.ndarray, other: np.ndarray, same: bool) -> list[int]:
    """Lags d for which one[i] and other[i + d] agree most, and least often: 0 <= d; not 0 where it is the `same` array.

    Both are differences from what they are in the mean. Only where to look: other elements must show that it is so.
    """
    size = 1 << int(len(one) + len(other) - 1).bit_length()
    product = np.fft.irfft(np.conj(np.fft.rfft(one, size)) * np.fft.rfft(other, size), size)
    lags = product[: len(other) - len(one) // 2].copy()
    if same:
        lags[0] = 0.0
    order = np.argsort(np.abs(lags))[::-1][:FARTHEST]
    return [int(lag) for lag in order]
