"""Whether elements are independent: of their lane, of their neighbours near and far, of other calls, of other seeds.

All inputs are one number, so that every element is kept with one known probability p, and all counts are exactly
binomial: of a lane; of pairs that have no element in common, which agree with probability p^2 + (1 - p)^2; of blocks
whose number of kept elements lies far from its mean, which is what the variance of sums depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..formats import get_format, value_text
from ..targets.base import Target
from .binomial import holm, log_probability, two_sided
from .counting import matches
from .maps import Map, inputs
from .request import Request
from .target import seed as seeded

LANES = 64
LONG = 1 << 20  # elements of a long call, and 1064 more: chunks of threads end in it, and strips of any width do
SHORT, REPEATS = 4096 + 37, 96  # for places: each must be seen often enough
CALLS, SEEDS = 4, 3  # long ones
SHIFTS = (0, 1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256, 1024, 4096, 65536)
NEAR = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 96)
FAR = tuple(1 << k for k in range(7, 20))
PARTS = tuple(range(2, 17))  # a call in so many equal parts, as threads have them
BLOCKS = (32, 64, 256, 1024, 4096)


@dataclass(frozen=True)
class Sizes:
    """Elements of a long call, and of a short one."""

    long: int
    short: int

    @classmethod
    def of(cls, request: Request) -> Sizes:
        """Full ones for a bias of 1e-3 or less."""
        long = int(min(LONG, max(1 << 14, 1 / request.bias**2)))
        return cls(long + 1024 + 40, SHORT if long == LONG else SHORT // 8)


@dataclass(frozen=True)
class Tested:
    """One exact binomial test: `count` of `n`, each with a probability within `tolerance` of p."""

    what: str
    count: int
    n: int
    p: float
    q: float
    tolerance: float

    @property
    def p_value(self) -> float:
        return two_sided(self.count, self.n, self.p, self.q, self.tolerance)

    def described(self) -> str:
        return f"{self.what}: {self.count} of {self.n}, expected {self.n * self.p:.6g} (p = {self.p_value:.2g})"


def point(of: Map, dtype: str) -> int:
    """The bits of an x that is kept with probability near 1/2, and is not zero."""
    at = 1.5 if of.law == "constant" else 0.015625
    return int(inputs(dtype, np.array([at]))[0])


class Independence:
    """Draws what the tests need; `masks` of calls: [call, element]."""

    def __init__(self, target: Target, request: Request) -> None:
        self._target, self._request, self._of = target, request, request.judged_as()
        self._fmt = get_format(request.dtype)
        self._x = point(self._of, request.dtype)
        x = np.array([self._x], self._fmt.uint)
        self._kept, self._dropped = self._of.kept(self._fmt, x)[0], self._of.dropped(self._fmt, x)[0]
        self.p, self.q = self._of.probability(float(self._fmt.fraction(self._x)))
        self.samples, self._sizes = 0, Sizes.of(request)
        self.strange: list[str] = []  # the first output that was neither kept nor dropped

    def seed(self, number: int) -> None:
        self._target.applied(1, seeded, self._request.dtype, number, self._request.rate)

    def mask(self, n: int) -> np.ndarray:
        """Which elements of one call are kept."""
        y, _ = self._target.timed(self._request.dtype, np.full(n, self._x, self._fmt.uint))
        self.samples += n
        kept = matches(y, self._kept, self._of.slack)
        strange = ~kept & (y != self._dropped) & (y != self._dropped ^ self._fmt.uint.type(self._fmt.sign_mask))
        if strange.any() and not self.strange:
            text = value_text(self._fmt, int(y[strange][0]))
            self.strange.append(
                f"{int(strange.sum())} of {n} outputs are neither kept nor dropped, such as {text} at "
                f"x = {value_text(self._fmt, self._x)}"
            )
        return kept

    def tests(self, advance: Callable[[int], None]) -> list[Tested]:
        """All of them; `advance` after each call."""
        base, found = self._request.seed, list[Tested]()
        self.seed(base)
        found += self._of_places(advance)
        calls = []
        for _ in range(CALLS):
            calls.append(self.mask(self._sizes.long))
            advance(self._sizes.long)
        found += self._of_lanes(calls)
        found += self._of_blocks(calls)
        found += self._of_distances(calls)
        for i in range(0, CALLS, 2):
            found += self._of_pair(f"calls {i + 1} and {i + 2}", calls[i], calls[i + 1])
        if self._request.seeded:
            seeds = []
            for k in range(SEEDS):
                self.seed(base + (1, 2, 1 << 20)[k])
                seeds.append(self.mask(self._sizes.long))
                advance(self._sizes.long)
            for k, (a, b) in enumerate(((0, 1), (1, 2))):
                found += self._of_pair(f"seeds of the pair {k + 1}", seeds[a], seeds[b])
        return found

    def _of_places(self, advance: Callable[[int], None]) -> Iterator[Tested]:
        n = self._sizes.short
        counts = np.zeros(n, np.int64)
        for _ in range(REPEATS):
            counts += self.mask(n)
            advance(n)
        for place, count in enumerate(counts.tolist()):
            yield Tested(f"place {place} of {n}", count, REPEATS, self.p, self.q, self._request.tolerance)

    def _of_lanes(self, calls: list[np.ndarray]) -> Iterator[Tested]:
        whole = self._sizes.long // LANES * LANES
        counts = sum(call[:whole].reshape(-1, LANES).sum(0) for call in calls)
        for lane, count in enumerate(np.asarray(counts).tolist()):
            yield Tested(
                f"lane {lane} of {LANES}", count, len(calls) * whole // LANES, self.p, self.q, self._request.tolerance
            )

    def _of_blocks(self, calls: list[np.ndarray]) -> Iterator[Tested]:
        """How many blocks are farther from the mean than one standard deviation."""
        for size in BLOCKS:
            whole = self._sizes.long // size * size
            counts = np.concatenate([call[:whole].reshape(-1, size).sum(1) for call in calls])
            low, high, outside = _spread(size, self.p, self.q)
            far = int(((counts < low) | (counts > high)).sum())
            # a binomial law of so many trials moves by the change of p times their number, at most
            tolerance = size * self._request.tolerance
            yield Tested(f"variance of blocks of {size}", far, len(counts), outside, 1 - outside, tolerance)

    def _of_distances(self, calls: list[np.ndarray]) -> Iterator[Tested]:
        n = self._sizes.long
        for distance in sorted({*NEAR, *(far for far in FAR if far < n), *(n // parts for parts in PARTS)}):
            agreed = pairs = 0
            for call in calls:
                a, b = _apart(call, distance)
                agreed += int((a == b).sum())
                pairs += a.size
            yield self._agreement(f"elements {distance} apart", agreed, pairs)

    def _of_pair(self, what: str, a: np.ndarray, b: np.ndarray) -> Iterator[Tested]:
        for shift in (shift for shift in SHIFTS if shift < len(a)):
            agreed = int((a[shift:] == b[: len(b) - shift]).sum())
            yield self._agreement(f"{what}, {shift} elements apart", agreed, len(a) - shift)

    def _agreement(self, what: str, agreed: int, pairs: int) -> Tested:
        p, q = self.p, self.q
        return Tested(f"agreement of {what}", agreed, pairs, p * p + q * q, 2 * p * q, 2 * self._request.tolerance)


def samples(request: Request) -> int:
    """Elements that are drawn."""
    sizes = Sizes.of(request)
    return REPEATS * sizes.short + sizes.long * (CALLS + (SEEDS if request.seeded else 0))


def failures(tests: list[Tested], level: float) -> tuple[float, list[Tested]]:
    """The smallest p-value, and the tests that Holm's procedure rejects, the clearest first."""
    p_values = [test.p_value for test in tests]
    rejected = [each for each in zip(p_values, tests, holm(p_values, level), strict=True) if each[2]]
    return min(p_values), [test for _, test, _ in sorted(rejected, key=lambda each: each[0])]


def _apart(call: np.ndarray, distance: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of elements that far apart, no element in two of them."""
    if 2 * distance > len(call):
        return call[: len(call) - distance], call[distance:]
    whole = len(call) // (2 * distance) * (2 * distance)
    pairs = call[:whole].reshape(-1, 2, distance)
    return pairs[:, 0], pairs[:, 1]


def _spread(size: int, p: float, q: float) -> tuple[int, int, float]:
    """An interval of about one standard deviation around the mean of a block, and the probability of being outside."""
    mean, deviation = size * p, float(np.sqrt(size * p * q))
    low, high = int(np.ceil(mean - deviation)), int(np.floor(mean + deviation))
    if p <= 0 or q <= 0:
        return low, high, 0.0
    inside = sum(np.exp(log_probability(k, size, p, q)) for k in range(max(low, 0), min(high, size) + 1))
    return low, high, float(1 - inside)
